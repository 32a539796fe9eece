//! `tensorflow`: the whole cluster, and one's own place in it, as `TF_CONFIG`.

use serde::Serialize;

use super::{Target, Variable, arguments::value};
use crate::pod::shape::JobShape;

// In the order in which Volcano writes them; each role's task may have another name.
const ROLES: [&str; 4] = ["ps", "worker", "chief", "evaluator"];

#[derive(Serialize, Default)]
struct Config<'a> {
    cluster: Cluster,
    task: Place<'a>,
}

#[derive(Serialize, Default)]
struct Cluster {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ps: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    worker: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    chief: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    evaluator: Vec<String>,
}

#[derive(Serialize, Default)]
struct Place<'a> {
    r#type: &'a str,
    index: u32,
}

pub(super) fn variables(job: &JobShape, arguments: &[String], target: Target) -> Option<Variable> {
    // One pod alone is no cluster.
    if job.tasks.len() == 1 && job.replicas() == 1 {
        return None;
    }
    let port = value(arguments, "port", "2222");
    let hosts = |role: &str| -> Vec<String> {
        let task = job.task(value(arguments, role, role));
        let hosts = task.map(|task| job.hosts(task)).unwrap_or_default();
        hosts.into_iter().map(|host| format!("{host}:{port}")).collect()
    };
    let own = job.tasks.get(target.task)?.name.as_str();
    let role = ROLES.into_iter().find(|role| value(arguments, role, role) == own);
    let config = Config {
        cluster: Cluster {
            ps: hosts("ps"),
            worker: hosts("worker"),
            chief: hosts("chief"),
            evaluator: hosts("evaluator"),
        },
        task: Place {
            r#type: role.unwrap_or(own),
            index: target.index,
        },
    };
    Some(("TF_CONFIG".to_owned(), serde_json::to_string(&config).ok()?))
}
