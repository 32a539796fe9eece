//! `pytorch`: where the master is, how many take part, and which of them one is.

use super::{Target, Variable, arguments::value};
use crate::pod::shape::JobShape;

pub(super) fn variables(job: &JobShape, arguments: &[String], target: Target) -> Vec<Variable> {
    let Some(master) = job.task(value(arguments, "master", "master")) else {
        return Vec::new();
    };
    let worker = job.task(value(arguments, "worker", "worker"));
    let replicas = |place: usize| job.tasks.get(place).map_or(0, |task| task.replicas);
    let workers = worker.filter(|place| *place != master).map_or(0, replicas);
    let world = replicas(master).saturating_add(workers);
    let rank = match target.task {
        // Volcano counts workers from 1 whatever the number of masters.
        task if Some(task) == worker => Some(target.index.saturating_add(1)),
        task if task == master => Some(0),
        _ => None,
    };
    let address = job.addresses.of(job.number(master, 0)).to_string();
    let port = value(arguments, "port", "23456").to_owned();
    let mut variables = vec![
        ("MASTER_ADDR", address),
        ("MASTER_PORT", port),
        ("WORLD_SIZE", world.to_string()),
    ];
    variables.extend(rank.map(|rank| ("RANK", rank.to_string())));
    variables
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
