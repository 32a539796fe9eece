use serde_json::json;

use super::*;

fn read(spec: Value) -> Result<(JobView, Vec<Fault>), Vec<Fault>> {
    let Value::Object(spec) = spec else {
        panic!("{spec} is no spec")
    };
    JobView::read(&Schemas::new(), &spec, &FieldPath::root().field("spec"))
}

fn view(spec: Value) -> JobView {
    read(spec).unwrap().0
}

fn faults(spec: Value) -> Vec<String> {
    let faults = match read(spec) {
        Ok((_, faults)) | Err(faults) => faults,
    };
    faults.iter().map(ToString::to_string).collect()
}

fn task(more: Value) -> Value {
    let mut task = json!({ "replicas": 2, "template": { "spec": { "containers": [{ "name": "main", "image": "x" }] } } });
    if let (Value::Object(task), Value::Object(more)) = (&mut task, more) {
        task.extend(more);
    }
    task
}

#[test]
fn defaults_are_those_of_volcanos_admission() {
    let view = view(json!({
        "tasks": [
            task(json!({})),
            task(json!({ "name": "b", "minAvailable": 1, "maxRetry": 7 })),
            task(json!({ "replicas": 6, "partitionPolicy": { "totalPartitions": 3, "partitionSize": 2, "minPartitions": 2 } })),
            task(json!({ "replicas": null })),
        ],
        "maxRetry": 0,
        "plugins": { "mpi": ["--x"], "env": null },
    }));
    let tasks: Vec<_> = view
        .tasks
        .iter()
        .map(|t| (t.name.as_str(), t.replicas, t.min_available, t.max_retry))
        .collect();
    assert_eq!(
        tasks,
        [
            ("default0", 2, 2, 3),
            ("b", 2, 1, 7),
            ("default2", 6, 4, 3),
            ("default3", 0, 0, 3)
        ]
    );
    assert_eq!(
        (view.min_available, view.max_retry, view.queue.as_str()),
        (7, 3, "default")
    );
    assert_eq!(
        view.plugins.keys().collect::<Vec<_>>(),
        ["env", "mpi", "ssh", "svc"]
    );
}

#[test]
fn every_rule_of_volcanos_admission_has_its_fault() {
    for (spec, fault) in [
        (
            json!({}),
            "error[bad-job]: spec.tasks: a job needs at least one task",
        ),
        (
            json!({ "tasks": [] }),
            "error[bad-job]: spec.tasks: a job needs at least one task",
        ),
        (
            json!({ "minAvailable": 5, "tasks": [task(json!({}))] }),
            "error[bad-job]: spec.minAvailable: minAvailable is 5, but all tasks together have 2 pods",
        ),
        (
            json!({ "tasks": [task(json!({ "minAvailable": 3 }))], "minAvailable": 1 }),
            "error[bad-job]: spec.tasks[0].minAvailable: minAvailable is 3, but the task has 2 pods",
        ),
        (
            json!({ "tasks": [task(json!({ "name": "a" })), task(json!({ "name": "a" }))] }),
            "error[duplicate-name]: spec.tasks[1].name: the task `a` stands twice",
        ),
        (
            json!({ "tasks": [task(json!({ "name": "A" }))] }),
            "error[bad-name]: spec.tasks[0].name: `A` is no name of a task (lower-case letters, digits and `-`, 63 characters at most)",
        ),
        (
            json!({ "tasks": [task(json!({}))], "maxRetry": -1 }),
            "error[bad-job]: spec.maxRetry: maxRetry is -1; it can't be negative",
        ),
        (
            json!({ "tasks": [task(json!({ "template": { "spec": { "containers": [] } } }))] }),
            "error[bad-job]: spec.tasks[0].template.spec.containers: a pod needs at least one container",
        ),
        (
            json!({ "tasks": [task(json!({ "template": { "spec": { "containers": [{ "name": "a" }] } } }))] }),
            "error[bad-job]: spec.tasks[0].template.spec.containers[0].image: the container `a` has no image",
        ),
        (
            json!({ "tasks": [task(json!({ "name": "a", "dependsOn": { "name": ["main"] } })), task(json!({ "name": "mian" }))] }),
            "error[unknown-reference]: spec.tasks[0].dependsOn.name[0]: the job has no task `main`",
        ),
        (
            json!({ "tasks": [
                task(json!({ "name": "a", "dependsOn": { "name": ["b"] } })),
                task(json!({ "name": "b", "dependsOn": { "name": ["a"] } })),
            ] }),
            "error[cycle]: spec.tasks[0].dependsOn: tasks wait for each other: a -> b -> a",
        ),
        (
            json!({ "tasks": [task(json!({ "partitionPolicy": { "totalPartitions": 3, "partitionSize": 2 } }))] }),
            "error[bad-job]: spec.tasks[0].partitionPolicy: 3 partitions of 2 pods are not the 2 pods of the task",
        ),
        (
            json!({ "tasks": [task(json!({}))], "volumes": [{ "mountPath": "/a", "volumeClaimName": "x" }, { "mountPath": "/a", "volumeClaimName": "y" }] }),
            "error[bad-job]: spec.volumes[1].mountPath: `/a` is mounted twice",
        ),
        (
            json!({ "tasks": [task(json!({}))], "volumes": [{ "mountPath": "/a" }] }),
            "error[bad-job]: spec.volumes[0]: a volume needs a volumeClaimName or a volumeClaim",
        ),
        (
            json!({ "tasks": [task(json!({}))], "plugins": { "scv": [] } }),
            "warning[bad-job]: spec.plugins.scv: `scv` is none of Volcano's plugins: env, ssh, svc, tensorflow, mpi, pytorch, ray (did you mean `svc`?)",
        ),
    ] {
        let found = faults(spec.clone());
        assert_eq!(found.len(), 1, "{spec}: {found:?}");
        assert!(found[0].starts_with(fault), "{spec}: {found:?}");
    }
}

#[test]
fn a_gang_that_waits_for_pods_that_are_made_later_is_warned_of() {
    let tasks = |least: i32| {
        json!({ "minAvailable": least, "tasks": [
            task(json!({ "name": "first" })),
            task(json!({ "name": "second", "dependsOn": { "name": ["first"] } })),
        ] })
    };
    assert_eq!(
        faults(tasks(3)),
        [
            "warning[bad-job]: spec.minAvailable: minAvailable is 3, but only 2 pods are made before others have run, \
             since task `second` waits for tasks of its own job: nothing is ever scheduled \
             (set `minAvailable` of the job to 2 or less)"
        ]
    );
    let implied = faults(tasks(0));
    assert!(
        implied[0].starts_with(
            "warning[bad-job]: spec.tasks[1].dependsOn: minAvailable is 4 (the sum of all tasks), but only 2"
        ),
        "{implied:?}"
    );
    assert_eq!(faults(tasks(2)), <[&str; 0]>::default());
}

#[test]
fn every_rule_for_policies_has_its_fault() {
    for (policies, fault) in [
        (
            json!([{ "action": "RestartJob" }]),
            "spec.policies[0]: a policy needs an event or an exit code",
        ),
        (
            json!([{ "action": "RestartJob", "event": "PodFailed", "exitCode": 1 }]),
            "spec.policies[0]: a policy has events or an exit code, not both",
        ),
        (
            json!([{ "action": "RestartJob", "exitCode": 0 }]),
            "spec.policies[0].exitCode: 0 is no exit code of a failure",
        ),
        (
            json!([{ "action": "RestartJob", "exitCode": 3 }, { "action": "AbortJob", "exitCode": 3 }]),
            "spec.policies[1].exitCode: exit code 3 has a policy already",
        ),
        (
            json!([{ "action": "RestartJob", "events": ["PodFailed", "PodFailed"] }]),
            "spec.policies[0].event: the event `PodFailed` has a policy already",
        ),
        (
            json!([{ "action": "RestartJob", "event": "*" }, { "action": "AbortJob", "event": "PodFailed" }]),
            "spec.policies: a policy for the event `*` must be the only one with events",
        ),
        (
            json!([{ "action": "SyncJob", "event": "PodFailed" }]),
            "spec.policies[0].action: `SyncJob` is no action",
        ),
        (
            json!([{ "action": "AbortJob", "event": "podFailed" }]),
            "spec.policies[0].event: `podFailed` is no event",
        ),
        (
            json!([{ "action": "AbortJob", "event": "PodPending", "timeout": "9999999999h" }]),
            "spec.policies[0].timeout: `9999999999h` is no duration",
        ),
    ] {
        let found = faults(json!({ "tasks": [task(json!({}))], "policies": policies }));
        assert_eq!(found.len(), 1, "{policies}: {found:?}");
        assert!(
            found[0].starts_with(&format!("error[bad-job]: {fault}")),
            "{policies}: {found:?}"
        );
    }
}

#[test]
fn all_faults_of_a_job_come_at_once() {
    let spec = json!({
        "minAvailable": 9,
        "tasks": [task(json!({ "name": "A" })), task(json!({ "name": "A", "minAvailable": 4 }))],
        "policies": [{}],
    });
    assert_eq!(faults(spec).len(), 7);
}

#[test]
fn absurd_numbers_saturate() {
    let most = json!({ "replicas": i32::MAX });
    let view = view(json!({ "tasks": [task(most.clone()), task(most)] }));
    assert_eq!(view.min_available, i32::MAX);
    assert_eq!(view.gang().tasks[1].replicas, i32::MAX as u32);
}

#[test]
fn the_core_gets_what_decides() {
    let gang = view(json!({
        "minSuccess": 1,
        "tasks": [
            task(json!({ "name": "a", "maxRetry": -1 })),
            task(json!({ "name": "b", "dependsOn": { "name": ["a"], "iteration": "any" } })),
        ],
        "policies": [{ "action": "RestartJob", "event": "PodEvicted", "timeout": "10s" }],
    }))
    .gang();
    assert_eq!(
        (gang.min_available, gang.min_success, gang.max_retry),
        (4, Some(1), 3)
    );
    assert_eq!(gang.tasks[0].max_retry, None);
    let depends_on = gang.tasks[1].depends_on.as_ref().unwrap();
    assert_eq!(
        (depends_on.tasks.as_slice(), depends_on.iteration),
        (&[0][..], jobflow_core::gang::Iteration::Any)
    );
    let policy = &gang.policies[0];
    assert_eq!(policy.action, jobflow_core::gang::Action::RestartJob);
    assert_eq!(policy.timeout, Some(jobflow_core::Span::from_secs(10)));
}
