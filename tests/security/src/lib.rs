//! Objects that somebody means ill with. All tests that ask what hostile objects do ask it of these.
//!
//! Deliberately absent: what must become of them, which each test says for itself.

use serde_json::{Value, json};

const FLOWS: &str = "flow.volcano.sh/v1alpha1";
const JOBS: &str = "batch.volcano.sh/v1alpha1";

/// Objects of the namespace that an API server stores, if its definitions allow it or did so once: wrong types, sizes and
/// numbers that nobody can mean, names that harm a terminal.
#[must_use]
pub fn stored(namespace: &str) -> Vec<Value> {
    let of = |api: &str, kind: &str, name: &str, spec: Value| {
        json!({
            "apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec,
        })
    };
    let flow = |name: &str, spec: Value| of(FLOWS, "JobFlow", name, spec);
    let entry = |job_spec: Value| json!({"flows": [{"name": "a", "jobSpec": job_spec}]});
    let mut status = flow("p-status", entry(job()));
    status["status"] = json!({"nodes": "none", "state": 7});
    let mut many = job();
    many["tasks"][0]["replicas"] = json!(2_147_483_647);
    let mut forever = job();
    forever["policies"] = json!([{"event": "PodFailed", "action": "AbortJob", "timeout": "9999999999h"}]);
    let mut escaping = job();
    escaping["tasks"][0]["name"] = json!("\u{1b}[31m\r\n../../etc/passwd");
    let mut huge = entry(job());
    huge["activeDeadlineSeconds"] = json!(i64::MAX);
    vec![
        flow("p-type", json!({"flows": 5})),
        flow("p-null", Value::Null),
        flow("p-deep", entry(nested(60))),
        flow("p-large", entry(json!({"x": "y".repeat(1_500_000)}))),
        flow("p-negative", {
            let mut spec = entry(job());
            spec["parallelism"] = json!(-1);
            spec
        }),
        flow("p-huge", huge),
        flow("p-many", entry(many.clone())),
        flow("p-forever", entry(forever)),
        flow("p-escaping", entry(escaping)),
        status,
        of(FLOWS, "JobTemplate", "p-template", json!({"tasks": "none"})),
        of(JOBS, "Job", "p-job", json!([1])),
        of(JOBS, "Job", "p-many", many),
    ]
}

/// Objects whose metadata no API server would store; a decoder sees them all the same, if a server goes mad.
#[must_use]
pub fn malformed(namespace: &str) -> Vec<Value> {
    let metadata = |name: &str| json!({"name": name, "namespace": namespace});
    let mut labelled = json!({
        "apiVersion": FLOWS, "kind": "JobFlow", "metadata": metadata("p-labels"),
        "spec": {"flows": [{"name": "a", "jobSpec": job()}]},
    });
    labelled["metadata"]["labels"] = json!([1]);
    let mut unowned =
        json!({"apiVersion": JOBS, "kind": "Job", "metadata": metadata("p-owner"), "spec": job()});
    unowned["metadata"]["ownerReferences"] = json!({"uid": 1});
    vec![labelled, unowned]
}

/// A Job of one pod.
#[must_use]
pub fn job() -> Value {
    json!({
        "minAvailable": 1,
        "tasks": [{"name": "main", "replicas": 1, "template": {"spec": {
            "restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}],
        }}}],
    })
}

/// As deep as told, twice.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |deep, _| json!({"x": [deep]}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_say_that_they_are_poison() {
        let all = [stored("ns"), malformed("ns")].concat();
        let mut names: Vec<String> = all
            .iter()
            .map(|object| format!("{} {}", object["kind"], object["metadata"]["name"]))
            .collect();
        names.sort();
        let before = names.len();
        names.dedup();
        assert_eq!(names.len(), before);
        assert!(names.iter().all(|name| name.contains("\"p-")), "{names:?}");
    }

    #[test]
    fn the_large_one_is_as_large_as_a_server_takes() {
        let largest = stored("ns").iter().map(|object| object.to_string().len()).max();
        assert!(largest.is_some_and(|bytes| (1_500_000..1_572_864).contains(&bytes)));
    }
}
