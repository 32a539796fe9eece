use super::*;

fn names(list: &str, names: &[&str]) -> Value {
    let elements: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    json!({ list: elements })
}

#[test]
fn each_list_of_a_pod_is_merged_by_its_own_key() {
    for (list, key, one, other) in [
        ("volumes", "name", json!("a"), json!("b")),
        ("hostAliases", "ip", json!("10.0.0.1"), json!("10.0.0.2")),
        (
            "topologySpreadConstraints",
            "topologyKey",
            json!("zone"),
            json!("host"),
        ),
        ("imagePullSecrets", "name", json!("a"), json!("b")),
    ] {
        check(
            json!({ list: [{ key: one, "x": 1, "y": 1 }, { key: other, "x": 1 }] }),
            json!({ list: [{ key: one, "x": null }] }),
            json!({ list: [{ key: one, "y": 1 }, { key: other, "x": 1 }] }),
        );
    }
    check(
        pod(
            json!({ "ports": [{ "containerPort": 80, "name": "http" }], "volumeMounts": [{ "mountPath": "/a" }] }),
        ),
        pod(
            json!({ "ports": [{ "containerPort": 80, "protocol": "TCP" }], "volumeMounts": [{ "mountPath": "/a", "name": "v" }] }),
        ),
        pod(json!({
            "ports": [{ "containerPort": 80, "name": "http", "protocol": "TCP" }],
            "volumeMounts": [{ "mountPath": "/a", "name": "v" }],
        })),
    );
}

#[test]
fn all_other_lists_are_replaced() {
    check(
        json!({ "tolerations": [{ "key": "a" }], "readinessGates": [1] }),
        json!({ "tolerations": [{ "key": "b", "value": null }], "readinessGates": [] }),
        json!({ "tolerations": [{ "key": "b" }], "readinessGates": [] }),
    );
    check(
        pod(json!({ "command": ["a", "b"], "envFrom": [{ "prefix": "x" }] })),
        pod(json!({ "command": ["c"], "envFrom": [{ "prefix": "y" }] })),
        pod(json!({ "command": ["c"], "envFrom": [{ "prefix": "y" }] })),
    );
}

#[test]
fn finalizers_are_joined() {
    let merged = |patch| {
        merge(
            Kind::Metadata,
            &map(json!({ "finalizers": ["a", "b"] })),
            &map(patch),
        )
    };
    assert_eq!(
        merged(json!({ "finalizers": ["c", "b"] })).map(Value::Object),
        Ok(json!({ "finalizers": ["c", "a", "b"] }))
    );
    assert_eq!(
        merged(json!({ "$deleteFromPrimitiveList/finalizers": ["a", "x"] })).map(Value::Object),
        Ok(json!({ "finalizers": ["b"] }))
    );
}

#[test]
fn new_elements_stand_where_the_patch_puts_them() {
    for (before, patch, after) in [
        (&["a", "b"][..], &["c"][..], &["c", "a", "b"][..]),
        (&["a", "b"], &["a", "c"], &["a", "c", "b"]),
        (&["a", "b"], &["b", "c"], &["a", "b", "c"]),
        (&["a", "b", "c"], &["c", "a"], &["b", "c", "a"]),
        (&[], &["b", "a"], &["b", "a"]),
    ] {
        check(
            names("volumes", before),
            names("volumes", patch),
            names("volumes", after),
        );
    }
}

#[test]
fn an_order_arranges_a_list() {
    for (patch, after) in [
        (
            json!({ "$setElementOrder/volumes": [{ "name": "c" }, { "name": "a" }] }),
            &["b", "c", "a"][..],
        ),
        (
            json!({
                "$setElementOrder/volumes": [{ "name": "c" }, { "name": "d" }, { "name": "a" }],
                "volumes": [{ "name": "d" }],
            }),
            &["b", "c", "d", "a"],
        ),
    ] {
        check(names("volumes", &["a", "b", "c"]), patch, names("volumes", after));
    }
    let patch = json!({ "$setElementOrder/volumes": [{ "name": "a" }], "volumes": [{ "name": "d" }] });
    assert_eq!(
        wrong(names("volumes", &["a"]), patch),
        [
            "error[bad-patch]: volumes: the elements of this list don't stand in the order that `$setElementOrder` gives them"
        ]
    );
}

#[test]
fn elements_are_deleted_and_lists_replaced() {
    check(
        names("volumes", &["a", "b"]),
        json!({ "volumes": [{ "name": "a", "$patch": "delete" }, { "name": "x", "$patch": "delete" }] }),
        names("volumes", &["b"]),
    );
    check(
        names("volumes", &["b", "a"]),
        json!({ "volumes": [{ "$patch": "replace" }, { "name": "c" }, { "name": "a" }] }),
        names("volumes", &["c", "a"]),
    );
    check(
        json!({ "volumes": [{ "name": "a", "emptyDir": {} }] }),
        json!({ "volumes": [{ "name": "a", "$patch": "delete" }, { "name": "a", "image": {} }] }),
        json!({ "volumes": [{ "name": "a", "image": {} }] }),
    );
}

#[test]
fn an_element_that_replaces_the_list_it_is_in_is_refused() {
    let faults = wrong(
        names("volumes", &["a", "b"]),
        json!({ "volumes": [{ "name": "a", "$patch": "replace", "emptyDir": {} }] }),
    );
    assert!(
        faults[0].starts_with("error[bad-patch]: volumes[0]: `$patch: replace` replaces the whole list"),
        "{faults:?}"
    );
}

#[test]
fn an_element_without_its_key_is_a_fault() {
    assert_eq!(
        wrong(pod(json!({})), json!({ "containers": [{ "image": "x" }, 3] })),
        [
            "error[missing-field]: containers[0]: which element is meant? Elements of this list are merged by `name`",
            "error[wrong-type]: containers[1]: each element of this list is a mapping",
        ]
    );
}
