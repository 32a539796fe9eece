//! `svc`: the hosts of each task, as variables and as files.

use std::collections::BTreeMap;

use super::Variable;
use crate::pod::shape::JobShape;

pub(super) fn variables(job: &JobShape) -> Vec<Variable> {
    let mut variables = Vec::new();
    for (place, task) in job.tasks.iter().enumerate() {
        let name = task.name.replace('-', "_").to_uppercase();
        variables.push((format!("VC_{name}_HOSTS"), job.hosts(place).join(",")));
        variables.push((format!("VC_{name}_NUM"), task.replicas.to_string()));
    }
    variables
}

/// Lists the files under `/etc/volcano`: `<task>.host`, a host a line, and the variables; none without the plugin.
pub fn files(job: &JobShape) -> Option<BTreeMap<String, String>> {
    if !job.plugins.contains_key("svc") {
        return None;
    }
    let hosts = job.tasks.iter().enumerate();
    let hosts = hosts.map(|(place, task)| (format!("{}.host", task.name), job.hosts(place).join("\n")));
    Some(hosts.chain(variables(job)).collect())
}
