use super::*;

#[test]
fn fields_are_set_replaced_and_deleted() {
    check(
        json!({ "a": 1, "b": 2, "c": { "d": 3, "e": 4 }, "f": [1, 2] }),
        json!({ "a": "x", "b": null, "c": { "e": null, "g": 5 }, "f": [3], "none": null }),
        json!({ "a": "x", "c": { "d": 3, "g": 5 }, "f": [3] }),
    );
}

#[test]
fn nulls_of_something_new_are_not_kept() {
    check(
        json!({ "scalar": 1 }),
        json!({ "new": { "a": null, "b": [{ "c": null, "d": 1 }] }, "scalar": { "e": null } }),
        json!({ "new": { "b": [{ "d": 1 }] }, "scalar": {} }),
    );
}

#[test]
fn a_map_is_replaced_or_emptied_where_a_directive_says_so() {
    check(
        json!({ "a": { "x": 1 }, "b": { "x": 1 } }),
        json!({ "a": { "$patch": "replace", "y": 2, "z": null }, "b": { "$patch": "delete" } }),
        json!({ "a": { "y": 2 }, "b": {} }),
    );
}

#[test]
fn a_directive_where_nothing_is_has_the_effect_that_it_has_in_kubernetes() {
    check(
        json!({}),
        json!({ "a": { "$patch": "replace", "y": 2 }, "b": { "c": { "$patch": "delete" } } }),
        json!({ "b": {} }),
    );
    let patch = serde_json::from_value(
        json!({ "jobSpec": { "networkTopology": { "$patch": "replace", "mode": "hard" } } }),
    )
    .unwrap();
    let patched = apply(&Map::new(), &patch, &FieldPath::root()).unwrap();
    assert_eq!(
        patched.warnings[0].to_string(),
        "warning[bad-patch]: jobSpec.networkTopology: there is nothing here yet: what has a `$patch` inside is left out"
    );
}

#[test]
fn only_the_retained_keys_stay() {
    check(
        json!({ "volumes": [{ "name": "v", "mystery": 1, "emptyDir": {} }] }),
        json!({ "volumes": [{ "$retainKeys": ["name", "configMap"], "name": "v", "configMap": { "name": "c" } }] }),
        json!({ "volumes": [{ "name": "v", "configMap": { "name": "c" } }] }),
    );
    assert_eq!(
        wrong(
            json!({ "a": { "b": 1 } }),
            json!({ "a": { "$retainKeys": ["b"], "c": 1 } })
        ),
        ["error[bad-patch]: a.$retainKeys: `$retainKeys` doesn't name `c`, which the patch sets"]
    );
}

#[test]
fn setting_one_member_of_a_union_drops_the_others() {
    for (before, patch, after) in [
        (
            json!({ "volumes": [{ "name": "v", "emptyDir": { "medium": "Memory" } }] }),
            json!({ "volumes": [{ "name": "v", "configMap": { "name": "c" } }] }),
            json!({ "volumes": [{ "name": "v", "configMap": { "name": "c" } }] }),
        ),
        (
            pod(json!({ "env": [{ "name": "A", "value": "x" }] })),
            pod(json!({ "env": [{ "name": "A", "valueFrom": { "fieldRef": { "fieldPath": "f" } } }] })),
            pod(json!({ "env": [{ "name": "A", "valueFrom": { "fieldRef": { "fieldPath": "f" } } }] })),
        ),
        (
            pod(json!({ "env": [{ "name": "A", "valueFrom": { "fieldRef": {} } }] })),
            pod(json!({ "env": [{ "name": "A", "valueFrom": { "secretKeyRef": { "key": "k" } } }] })),
            pod(json!({ "env": [{ "name": "A", "valueFrom": { "secretKeyRef": { "key": "k" } } }] })),
        ),
        (
            pod(json!({ "livenessProbe": { "exec": { "command": ["x"] }, "periodSeconds": 3 } })),
            pod(json!({ "livenessProbe": { "tcpSocket": { "port": 1 } } })),
            pod(json!({ "livenessProbe": { "periodSeconds": 3, "tcpSocket": { "port": 1 } } })),
        ),
        (
            pod(json!({ "lifecycle": { "preStop": { "exec": { "command": ["x"] } } } })),
            pod(json!({ "lifecycle": { "preStop": { "sleep": { "seconds": 1 } } } })),
            pod(json!({ "lifecycle": { "preStop": { "sleep": { "seconds": 1 } } } })),
        ),
        (
            json!({ "resourceClaims": [{ "name": "g", "resourceClaimName": "x" }] }),
            json!({ "resourceClaims": [{ "name": "g", "resourceClaimTemplateName": "y" }] }),
            json!({ "resourceClaims": [{ "name": "g", "resourceClaimTemplateName": "y" }] }),
        ),
    ] {
        check(before, patch, after);
    }
}

#[test]
fn a_member_that_is_changed_or_taken_away_drops_nothing() {
    check(
        json!({ "volumes": [{ "name": "v", "emptyDir": { "medium": "Memory" } }] }),
        json!({ "volumes": [{ "name": "v", "emptyDir": { "sizeLimit": "1Gi" }, "configMap": null }] }),
        json!({ "volumes": [{ "name": "v", "emptyDir": { "medium": "Memory", "sizeLimit": "1Gi" } }] }),
    );
}

#[test]
fn two_members_of_a_union_in_one_patch_exclude_each_other() {
    let both = json!({ "volumes": [{ "name": "v", "emptyDir": {}, "hostPath": { "path": "/" } }] });
    let fault = "error[conflict]: volumes[0].hostPath: `emptyDir` and `hostPath` exclude each other";
    for original in [json!({ "volumes": [{ "name": "v" }] }), json!({ "volumes": [] })] {
        assert_eq!(wrong(original, both.clone()), [fault]);
    }
}

#[test]
fn a_directive_that_makes_no_sense_is_a_fault() {
    let faults = wrong(json!({ "a": { "b": 1 } }), json!({ "a": { "$patch": "merge" } }));
    assert_eq!(
        faults,
        [
            "error[bad-patch]: a.$patch: `$patch` is \"merge\"; it can be `replace` or `delete` \
          (leave it away: merging is what happens without it)"
        ]
    );
}
