//! Patches on their way into a Job.

use super::*;

fn wrong(patch: Value, spec: Value) -> Vec<String> {
    let mut flow = flow();
    let entry = entry(json!({ "patch": patch }));
    flow.spec.flows = Some(vec![Entry::default(), entry.clone()]);
    let template = template(spec);
    let faults = render(&Schemas::new(), &flow, &entry, Attempt::FIRST, Some(&template)).unwrap_err();
    faults
        .iter()
        .filter(|fault| fault.is_error())
        .map(ToString::to_string)
        .collect()
}

#[test]
fn a_patch_changes_the_job_and_not_the_template() {
    let entry = entry(json!({ "patch": { "jobSpec": {
        "ttlSecondsAfterFinished": 9,
        "tasks": [{ "name": "default0", "replicas": 3, "template": { "spec": { "containers": [{ "name": "main", "image": "y" }] } } }],
    } } }));
    let template = template(json!({ "maxRetry": 5 }));
    let job = rendered(&flow(), &entry, Attempt::FIRST, &template);
    assert_eq!(
        job["spec"],
        json!({ "maxRetry": 5, "tasks": [{
            "name": "default0",
            "replicas": 3,
            "template": {
                "metadata": { "annotations": { "sidecar.istio.io/inject": "false" } },
                "spec": { "containers": [{ "name": "main", "image": "y", "newField": 1 }] },
            },
        }] })
    );
    assert_eq!(
        job["metadata"]["annotations"]["flow.volcano.sh/ttl-seconds-after-finished"],
        "9"
    );
}

#[test]
fn a_queue_that_a_patch_or_an_inline_spec_sets_is_kept() {
    let mut flow = flow();
    flow.spec.queue = Some("q".to_owned());
    let job =
        |entry: Value, spec: Value| rendered(&flow, &self::entry(entry), Attempt::FIRST, &template(spec));
    let queue = |entry, spec| job(entry, spec)["spec"]["queue"].clone();
    let default = json!({ "queue": "default" });
    assert_eq!(queue(json!({}), default.clone()), "q");
    assert_eq!(
        queue(json!({ "patch": { "jobSpec": default } }), default.clone()),
        "default"
    );
    assert_eq!(
        queue(
            json!({ "patch": { "jobSpec": { "queue": null } } }),
            json!({ "queue": "own" })
        ),
        "q"
    );
    let inline = template(default).spec.0;
    assert_eq!(queue(json!({ "jobSpec": inline }), json!({})), "default");
}

#[test]
fn what_a_patch_breaks_is_told_at_the_patch() {
    let task = |task: Value| {
        let mut named = json!({ "name": "default0" });
        if let (Value::Object(named), Value::Object(task)) = (&mut named, task) {
            named.extend(task);
        }
        json!({ "jobSpec": { "tasks": [named] } })
    };
    for (patch, fault) in [
        (
            json!({ "jobSpec": { "tasks": null } }),
            "error[bad-job]: spec.flows[1].patch.jobSpec.tasks: a job needs at least one task",
        ),
        (
            json!({ "jobSpec": { "tasks": [{ "$patch": "replace" }] } }),
            "error[bad-job]: spec.flows[1].patch.jobSpec.tasks: a job needs at least one task",
        ),
        (
            json!({ "remove": ["tasks[default0]"] }),
            "error[bad-job]: spec.flows[1].patch.remove[0]: a job needs at least one task",
        ),
        (
            task(json!({ "replicas": "three" })),
            "error[wrong-type]: spec.flows[1].patch.jobSpec.tasks[0].replicas: expected a whole number, found the string \"three\"",
        ),
        (
            task(json!({ "minAvailable": 2, "replicas": 1 })),
            "error[bad-job]: spec.flows[1].patch.jobSpec.minAvailable: minAvailable is 2, but all tasks together have 1 pods",
        ),
        (
            task(json!({ "template": { "spec": { "containers": [{ "name": "main", "image": null }] } } })),
            "error[bad-job]: spec.flows[1].patch.jobSpec.tasks[0].template.spec.containers[0].image: the container `main` has no image",
        ),
        (
            json!({ "remove": ["tasks[default0].template.spec.containers[main].image"] }),
            "error[bad-job]: spec.flows[1].patch.remove[0]: the container `main` has no image",
        ),
        (
            task(json!({ "template": { "spec": { "containers": [{ "name": "mian", "image": "y" }] } } })),
            "error[bad-patch]: spec.flows[1].patch.jobSpec.tasks[0].template.spec.containers[0].name: \
             the template has no container `mian`, only `main`",
        ),
        (
            json!({ "jobSpec": { "minAvailabel": 1, "minAvailable": 9 } }),
            "error[bad-job]: spec.flows[1].patch.jobSpec.minAvailable: minAvailable is 9, but all tasks together have 1 pods",
        ),
    ] {
        let found = wrong(patch.clone(), json!({}));
        assert!(
            found.iter().any(|found| found.starts_with(fault)),
            "{patch}: {found:#?}"
        );
    }
}

#[test]
fn what_the_template_had_before_is_told_there() {
    let found = wrong(
        json!({ "jobSpec": { "queue": "q" } }),
        json!({ "minAvailable": 9 }),
    );
    assert!(
        found[0].starts_with("error[bad-job]: spec.minAvailable: "),
        "{found:?}"
    );
}

#[test]
fn an_inline_spec_can_be_patched_and_tells_its_faults_in_the_flow() {
    let spec = template(json!({})).spec.0;
    let both = entry(json!({ "jobSpec": spec, "patch": { "jobSpec": { "maxRetry": 7 } } }));
    let job = render(&Schemas::new(), &flow(), &both, Attempt::FIRST, None).unwrap();
    assert_eq!(job.job.spec.0["maxRetry"], 7);
    let empty = entry(json!({ "jobSpec": { "tasks": [] } }));
    let faults = render(&Schemas::new(), &flow(), &empty, Attempt::FIRST, None).unwrap_err();
    assert_eq!(faults[0].path.to_string(), "spec.flows[0].jobSpec.tasks");
}
