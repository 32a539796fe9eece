use super::*;

fn job() -> Map<String, Value> {
    map(json!({
        "minAvailable": 1,
        "volumes": [{ "mountPath": "/data", "volumeClaimName": "data" }],
        "plugins": { "svc": ["--a"], "env": [] },
        "policies": [{ "event": "PodEvicted", "action": "RestartJob" }],
        "tasks": [
            { "replicas": 1, "template": { "spec": { "containers": [{ "name": "main", "image": "a" }] } } },
            { "name": "worker", "replicas": 2, "template": { "spec": { "containers": [{ "name": "main", "image": "a" }] } } },
        ],
    }))
}

fn patch(value: Value) -> Patch {
    serde_json::from_value(value).unwrap()
}

fn patched(value: Value) -> Value {
    let path = FieldPath::root().field("patch");
    Value::Object(apply(&job(), &patch(value), &path).unwrap().spec)
}

fn faults(value: Value) -> Vec<String> {
    let path = FieldPath::root().field("patch");
    let faults = apply(&job(), &patch(value), &path).unwrap_err();
    faults.iter().map(ToString::to_string).collect()
}

#[test]
fn tasks_are_merged_by_name_and_volumes_by_mount_path() {
    let spec = patched(json!({ "jobSpec": {
        "volumes": [{ "mountPath": "/data", "volumeClaimName": "other" }, { "mountPath": "/more" }],
        "plugins": { "svc": ["--b"], "ssh": [] },
        "policies": [],
        "tasks": [{ "name": "worker", "replicas": 5, "template": { "spec": { "containers": [{ "name": "main", "image": "b" }] } } }],
    } }));
    assert_eq!(
        spec["volumes"],
        json!([{ "mountPath": "/data", "volumeClaimName": "other" }, { "mountPath": "/more" }])
    );
    assert_eq!(spec["plugins"], json!({ "svc": ["--b"], "env": [], "ssh": [] }));
    assert_eq!(spec["policies"], json!([]));
    assert_eq!(
        (
            &spec["tasks"][1]["replicas"],
            &spec["tasks"][1]["template"]["spec"]["containers"]
        ),
        (&json!(5), &json!([{ "name": "main", "image": "b" }]))
    );
    assert_eq!(spec["tasks"][0]["replicas"], 1);
}

#[test]
fn a_task_without_a_name_is_meant_by_the_one_that_it_gets() {
    for task in [
        json!({ "name": "default0", "replicas": 3 }),
        json!({ "replicas": 3 }),
    ] {
        let spec = patched(json!({ "jobSpec": { "tasks": [task] } }));
        assert_eq!(
            (&spec["tasks"][0]["name"], &spec["tasks"][0]["replicas"]),
            (&json!("default0"), &json!(3))
        );
    }
    let spec = patched(json!({ "remove": ["tasks[default0]"] }));
    assert_eq!(spec["tasks"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_patch_that_leaves_tasks_alone_leaves_their_names_alone() {
    let spec = patched(json!({ "jobSpec": { "queue": "q" } }));
    assert_eq!(spec["tasks"], job()["tasks"]);
}

#[test]
fn a_task_or_container_that_the_template_lacks_is_a_fault_with_a_suggestion() {
    let misspelt = json!({ "tasks": [
        { "name": "wroker", "replicas": 3 },
        { "name": "worker", "template": { "spec": {
            "containers": [{ "name": "mian", "image": "b" }],
            "initContainers": [{ "name": "fetch", "image": "b" }],
        } } },
    ] });
    assert_eq!(
        faults(json!({ "jobSpec": misspelt })),
        [
            "error[bad-patch]: patch.jobSpec.tasks[0].name: the template has no task `wroker`, only `default0`, `worker` \
             (did you mean `worker`? `allowNew: true` in the patch adds a new one)",
            "error[bad-patch]: patch.jobSpec.tasks[1].template.spec.initContainers[0].name: \
             the template has no init container `fetch`, and no other (`allowNew: true` in the patch adds a new one)",
            "error[bad-patch]: patch.jobSpec.tasks[1].template.spec.containers[0].name: \
             the template has no container `mian`, only `main` (did you mean `main`? `allowNew: true` in the patch adds a new one)",
        ]
    );
    let spec = patched(json!({ "jobSpec": misspelt, "allowNew": true }));
    assert_eq!(spec["tasks"].as_array().map(Vec::len), Some(3));
    assert_eq!(
        spec["tasks"][2]["template"]["spec"]["containers"],
        json!([{ "name": "mian", "image": "b" }, { "name": "main", "image": "a" }])
    );
}

#[test]
fn what_is_removed_is_removed_after_the_merge() {
    let spec = patched(json!({
        "jobSpec": { "tasks": [{ "name": "worker", "template": { "spec": { "containers": [{ "name": "main", "image": null, "env": [
            { "name": "A", "value": "x" }, { "name": "B", "value": "y" },
        ], "ports": [{ "containerPort": 80 }] }] }, "metadata": { "annotations": { "a.b/c": "1", "d": "2" } } } }] },
        "remove": [
            "tasks[worker].template.spec.containers[main].env[A]",
            "tasks[worker].template.spec.containers[main].ports[80]",
            "tasks[worker].template.metadata.annotations[\"a.b/c\"]",
            "volumes[/data]",
            "plugins.svc",
        ],
    }));
    let template = &spec["tasks"][1]["template"];
    assert_eq!(
        template["spec"]["containers"],
        json!([{ "name": "main", "env": [{ "name": "B", "value": "y" }], "ports": [] }])
    );
    assert_eq!(template["metadata"], json!({ "annotations": { "d": "2" } }));
    assert_eq!(
        (&spec["volumes"], &spec["plugins"]),
        (&json!([]), &json!({ "env": [] }))
    );
}

#[test]
fn a_path_that_names_nothing_is_a_fault_with_a_suggestion() {
    for (path, message) in [
        (
            "tasks[worker].template.spec.containers[mian].image",
            "`tasks[worker].template.spec.containers[mian].image` names nothing: \
             `containers` has no element `mian` (did you mean `main`?)",
        ),
        (
            "tasks[worker].templat",
            "`tasks[worker].templat` names nothing: there is no `templat` (did you mean `template`?)",
        ),
        (
            "tasks.worker",
            "`tasks.worker` names nothing: `tasks` is a list: its elements are named in brackets, not by `.worker`",
        ),
        (
            "policies[0]",
            "`policies[0]` names nothing: `policies` is a list that is replaced as a whole \
             (its elements have no names: take all of it away, or write it anew in `jobSpec`)",
        ),
        (
            "spec.tasks[worker]",
            "`spec.tasks[worker]` names nothing: there is no `spec` \
             (paths begin in the Job's spec, with `tasks` for example)",
        ),
        (
            "plugins.ssh",
            "`plugins.ssh` names nothing: there is no `ssh`, only `env`",
        ),
        (
            "minAvailable.x",
            "`minAvailable.x` names nothing: `minAvailable` has nothing inside",
        ),
        (
            "tasks[worker",
            "no path: the bracket at character 6 isn't closed \
             (write it like `tasks[main].template.spec.containers[main].resources`)",
        ),
    ] {
        assert_eq!(
            faults(json!({ "remove": ["plugins.svc", path] })),
            [format!("error[bad-patch]: patch.remove[1]: {message}")]
        );
    }
}
