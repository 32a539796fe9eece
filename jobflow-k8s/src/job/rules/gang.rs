//! Whether enough pods can be there at once.

use super::bad;
use crate::fault::{Fault, FieldPath, Severity};
use crate::job::JobView;
use crate::types::job::{JobSpec, TaskDependsOn};

/// A warning if the scheduler waits for pods that aren't made before others of the gang have run: pods of tasks that
/// wait for other tasks are made late, and count for `minAvailable` nonetheless.
pub(super) fn fault(spec: &JobSpec, view: &JobView, path: &FieldPath) -> Option<Fault> {
    let waits = |depends_on: &Option<TaskDependsOn>| {
        let names = depends_on
            .as_ref()
            .and_then(|depends_on| depends_on.name.as_ref());
        names.is_some_and(|names| !names.is_empty())
    };
    let waiting = view.tasks.iter().position(|task| waits(&task.depends_on))?;
    let at_once = view
        .tasks
        .iter()
        .filter(|task| !waits(&task.depends_on))
        .fold(0_i32, |sum, task| sum.saturating_add(task.replicas));
    if view.min_available <= at_once {
        return None;
    }
    let is_written = spec.min_available.is_some_and(|least| least != 0);
    let path = match is_written {
        true => path.field("minAvailable"),
        false => path.field("tasks").index(waiting).field("dependsOn"),
    };
    let message = format!(
        "minAvailable is {}{}, but only {at_once} pods are made before others have run, since task `{}` waits for \
         tasks of its own job: nothing is ever scheduled",
        view.min_available,
        if is_written { "" } else { " (the sum of all tasks)" },
        view.tasks.get(waiting).map_or("", |task| &task.name),
    );
    let help = format!("set `minAvailable` of the job to {} or less", at_once.max(1));
    Some(Fault {
        severity: Severity::Warning,
        ..bad(path, message).with_help(help)
    })
}
