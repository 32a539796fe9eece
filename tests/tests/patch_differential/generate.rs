//! Pod templates, and patches of them with every word that a strategic merge knows.

use serde_json::{Map, Value, json};

use super::dice::Dice;

type Make = fn(&mut Dice, &str) -> Value;

/// A pod template that the API server takes.
pub(crate) fn template(dice: &mut Dice) -> Value {
    let mut metadata = Map::new();
    metadata.insert("labels".to_owned(), words(dice, &["app", "team", "tier"]));
    if dice.happens(50) {
        metadata.insert("annotations".to_owned(), words(dice, &["a.b/c", "note"]));
    }
    if dice.happens(60) {
        let finalizers = dice.some_of(&["x.io/a", "x.io/b", "x.io/c"], 60);
        metadata.insert("finalizers".to_owned(), json!(finalizers));
    }
    json!({ "metadata": metadata, "spec": pod(dice) })
}

fn pod(dice: &mut Dice) -> Value {
    let mut containers = list(dice, &["main", "side", "log"], 60, container);
    if containers.is_empty() {
        containers.push(container(dice, "main"));
    }
    // These stay, so that they can be mounted.
    let mut volumes: Vec<Value> = ["kept-a", "kept-b"].map(|name| volume(dice, name)).into();
    volumes.extend(list(dice, &["free-a", "free-b", "free-c"], 50, volume));
    let mut pod = Map::new();
    pod.insert("containers".to_owned(), containers.into());
    pod.insert("volumes".to_owned(), volumes.into());
    for (field, value) in more_of_pod(dice) {
        if dice.happens(50) {
            pod.insert(field.to_owned(), value);
        }
    }
    Value::Object(pod)
}

/// Fields of a pod, each with a value.
fn more_of_pod(dice: &mut Dice) -> Vec<(&'static str, Value)> {
    vec![
        (
            "initContainers",
            list(dice, &["fetch", "check"], 60, container).into(),
        ),
        (
            "imagePullSecrets",
            list(dice, &["p", "q", "r"], 50, |_, name| json!({ "name": name })).into(),
        ),
        (
            "hostAliases",
            list(dice, &["10.0.0.1", "10.0.0.2", "10.0.0.3"], 50, host_alias).into(),
        ),
        (
            "topologySpreadConstraints",
            list(dice, &["zone", "host"], 60, spread).into(),
        ),
        ("tolerations", list(dice, &["gpu", "spot"], 60, toleration).into()),
        ("nodeSelector", words(dice, &["disk", "zone"])),
        (
            "securityContext",
            json!({ "runAsUser": dice.below(9), "supplementalGroups": dice.some_of(&[1, 2, 3], 50) }),
        ),
        ("terminationGracePeriodSeconds", (10 + dice.below(60)).into()),
        ("serviceAccountName", dice.one_of(&["one", "two"]).into()),
        ("affinity", affinity(dice)),
    ]
}

fn affinity(dice: &mut Dice) -> Value {
    let term =
        |value: &str| json!({ "matchExpressions": [{ "key": "zone", "operator": "In", "values": [value] }] });
    let terms: Vec<Value> = ["a", "b"]
        .into_iter()
        .filter(|_| dice.happens(70))
        .map(term)
        .collect();
    match terms.is_empty() {
        true => json!({}),
        false => {
            json!({ "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": terms } } })
        }
    }
}

fn host_alias(dice: &mut Dice, ip: &str) -> Value {
    json!({ "ip": ip, "hostnames": dice.some_of(&["a.x", "b.x", "c.x"], 50) })
}

fn spread(dice: &mut Dice, key: &str) -> Value {
    json!({
        "topologyKey": key,
        "maxSkew": 1 + dice.below(3),
        "whenUnsatisfiable": dice.one_of(&["DoNotSchedule", "ScheduleAnyway"]),
        "labelSelector": { "matchLabels": { "app": dice.one_of(&["a", "b"]) } },
    })
}

fn toleration(dice: &mut Dice, key: &str) -> Value {
    json!({ "key": key, "operator": "Exists", "effect": dice.one_of(&["NoSchedule", "PreferNoSchedule"]) })
}

fn volume(dice: &mut Dice, name: &str) -> Value {
    let (member, value) = dice.one_of(&[
        ("emptyDir", json!({ "medium": "Memory", "sizeLimit": "1Gi" })),
        ("emptyDir", json!({})),
        (
            "configMap",
            json!({ "name": "c", "items": [{ "key": "k", "path": "p" }] }),
        ),
        ("secret", json!({ "secretName": "s", "optional": true })),
        ("hostPath", json!({ "path": "/tmp" })),
        ("persistentVolumeClaim", json!({ "claimName": "claim" })),
        (
            "projected",
            json!({ "sources": [{ "configMap": { "name": "c" } }] }),
        ),
    ]);
    json!({ "name": name, member: value })
}

fn container(dice: &mut Dice, name: &str) -> Value {
    let mut container = Map::new();
    container.insert("name".to_owned(), name.into());
    container.insert("image".to_owned(), dice.one_of(&["a:1", "b:2"]).into());
    for (field, value) in more_of_container(dice, name) {
        if dice.happens(50) {
            container.insert(field.to_owned(), value);
        }
    }
    Value::Object(container)
}

fn more_of_container(dice: &mut Dice, name: &str) -> Vec<(&'static str, Value)> {
    let mut fields = vec![
        ("command", json!(dice.some_of(&["a", "b", "c"], 60))),
        ("args", json!(dice.some_of(&["x", "y", "z"], 60))),
        ("env", list(dice, &["A", "B", "C", "D"], 50, variable).into()),
        (
            "envFrom",
            json!([{ "prefix": dice.one_of(&["P", "Q"]), "configMapRef": { "name": "c" } }]),
        ),
        ("ports", list(dice, &["80", "443", "53"], 50, port).into()),
        ("volumeMounts", list(dice, &["/a", "/b", "/c"], 50, mount).into()),
        ("resources", resources(dice)),
        ("workingDir", dice.one_of(&["/a", "/b"]).into()),
        (
            "securityContext",
            json!({ "runAsUser": 3, "capabilities": { "add": dice.some_of(&["X", "Y"], 60) } }),
        ),
    ];
    if !["fetch", "check"].contains(&name) {
        fields.push(("livenessProbe", probe(dice)));
        fields.push(("readinessProbe", probe(dice)));
        fields.push((
            "lifecycle",
            json!({ dice.one_of(&["preStop", "postStart"]): handler(dice) }),
        ));
    }
    fields
}

fn variable(dice: &mut Dice, name: &str) -> Value {
    dice.one_of(&[
        json!({ "name": name, "value": "x" }),
        json!({ "name": name, "value": "y" }),
        json!({ "name": name, "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } }),
        json!({ "name": name, "valueFrom": { "configMapKeyRef": { "name": "c", "key": "k" } } }),
    ])
}

fn port(dice: &mut Dice, number: &str) -> Value {
    let number: u16 = number.parse().unwrap_or(1);
    json!({ "containerPort": number, "protocol": dice.one_of(&["TCP", "UDP"]) })
}

fn mount(dice: &mut Dice, path: &str) -> Value {
    json!({ "mountPath": path, "name": dice.one_of(&["kept-a", "kept-b"]), "readOnly": dice.happens(50) })
}

fn resources(dice: &mut Dice) -> Value {
    json!({ "requests": { dice.one_of(&["cpu", "memory"]): "1" }, "limits": { dice.one_of(&["cpu", "memory"]): "2" } })
}

fn handler(dice: &mut Dice) -> Value {
    dice.one_of(&[
        json!({ "exec": { "command": ["x", "y"] } }),
        json!({ "httpGet": { "port": 80, "path": "/x" } }),
        json!({ "sleep": { "seconds": 3 } }),
    ])
}

fn probe(dice: &mut Dice) -> Value {
    let mut probe = dice.one_of(&[
        json!({ "exec": { "command": ["x"] } }),
        json!({ "httpGet": { "port": 80, "httpHeaders": [{ "name": "H", "value": "v" }] } }),
        json!({ "tcpSocket": { "port": 1 } }),
        json!({ "grpc": { "port": 2 } }),
    ]);
    probe["periodSeconds"] = (1 + dice.below(9)).into();
    probe
}

fn words(dice: &mut Dice, keys: &[&str]) -> Value {
    let chosen = dice.some_of(keys, 70);
    let words = chosen
        .into_iter()
        .map(|key| (key.to_owned(), dice.one_of(&["a", "b", "c"]).into()));
    Value::Object(words.collect())
}

fn list(dice: &mut Dice, keys: &[&str], percent: usize, make: Make) -> Vec<Value> {
    dice.some_of(keys, percent)
        .into_iter()
        .map(|key| make(dice, key))
        .collect()
}

/// A patch of a template: parts of another template, with deletions, replacements and orders among them.
pub(crate) fn patch(dice: &mut Dice, original: &Value) -> Value {
    let mut other = template(dice);
    thin(dice, &mut other, original, "", false);
    other
}

/// The keys by which lists are merged.
fn merge_key(list: &str) -> Option<&'static str> {
    match list {
        "containers" | "initContainers" | "volumes" | "env" | "imagePullSecrets" => Some("name"),
        "hostAliases" => Some("ip"),
        "topologySpreadConstraints" => Some("topologyKey"),
        "ports" => Some("containerPort"),
        "volumeMounts" => Some("mountPath"),
        _ => None,
    }
}

/// Leaves out parts, and puts words of a merge in. What is new is left without nulls: those of typed maps in new
/// elements are a matter of Kubernetes' decoding, and not of its merge.
fn thin(dice: &mut Dice, value: &mut Value, original: &Value, at: &str, is_new: bool) {
    match value {
        Value::Object(fields) => {
            let names: Vec<String> = fields.keys().cloned().collect();
            for name in names {
                let needed = ["name", "image", "ip", "topologyKey", "containerPort", "mountPath"]
                    .contains(&name.as_str());
                let top = ["metadata", "spec"].contains(&name.as_str()) && at.is_empty();
                if !is_new && !needed && !top && dice.happens(35) {
                    fields.shift_remove(&name);
                } else if let Some(value) = fields.get_mut(&name) {
                    let before = &original[name.as_str()];
                    thin(
                        dice,
                        value,
                        before,
                        &name,
                        is_new || (before.is_null() && !at.is_empty()),
                    );
                }
            }
            if !is_new {
                words_of_merge(dice, fields, original);
            }
        }
        Value::Array(elements) => {
            let Some(key) = merge_key(at) else { return };
            for element in elements.iter_mut() {
                let same = |other: &&Value| other[key] == element[key];
                let before = original.as_array().into_iter().flatten().find(same).cloned();
                let new = is_new || before.is_none();
                thin(dice, element, &before.unwrap_or(Value::Null), "[]", new);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Deletions, replacements and orders in a map that is there.
fn words_of_merge(dice: &mut Dice, patch: &mut Map<String, Value>, original: &Value) {
    let Some(before) = original.as_object() else {
        return;
    };
    for (name, value) in before {
        match (value, merge_key(name)) {
            (Value::Array(elements), Some(key)) => words_of_list(dice, patch, name, key, elements),
            (Value::Array(_), None) if name == "finalizers" && dice.happens(40) => {
                patch.insert(
                    "$deleteFromPrimitiveList/finalizers".to_owned(),
                    json!(["x.io/b"]),
                );
                patch.insert(
                    "$setElementOrder/finalizers".to_owned(),
                    json!(["x.io/c", "x.io/a", "x.io/b"]),
                );
                patch.shift_remove("finalizers");
            }
            (Value::Array(_), None) if ["args", "command"].contains(&name.as_str()) && dice.happens(20) => {
                patch.shift_remove(name);
                patch.insert(format!("$deleteFromPrimitiveList/{name}"), json!(["x", "b"]));
            }
            (Value::Object(_), _) if can_go(name) && dice.happens(10) => {
                patch.insert(name.clone(), json!({ "$patch": "delete" }));
            }
            (Value::Object(_), _)
                if ["labels", "nodeSelector", "annotations"].contains(&name.as_str()) && dice.happens(15) =>
            {
                patch.insert(name.clone(), json!({ "$patch": "replace", "app": "new" }));
            }
            _ if can_be_null(name) && dice.happens(15) => {
                patch.insert(name.clone(), Value::Null);
            }
            _ => {}
        }
    }
}

fn can_go(name: &str) -> bool {
    [
        "resources",
        "securityContext",
        "affinity",
        "nodeSelector",
        "annotations",
    ]
    .contains(&name)
}

fn can_be_null(name: &str) -> bool {
    can_go(name)
        || [
            "args",
            "command",
            "env",
            "ports",
            "tolerations",
            "workingDir",
            "livenessProbe",
            "lifecycle",
            "limits",
            "medium",
            "items",
            "note",
            "team",
            "initContainers",
            "hostAliases",
            "supplementalGroups",
        ]
        .contains(&name)
}

fn words_of_list(dice: &mut Dice, patch: &mut Map<String, Value>, name: &str, key: &str, before: &[Value]) {
    let may_go = |element: &&Value| {
        element[key]
            .as_str()
            .is_none_or(|text| !text.starts_with("kept") && text != "main")
    };
    let gone: Vec<Value> = before
        .iter()
        .filter(may_go)
        .filter(|_| dice.happens(20))
        .cloned()
        .collect();
    let mut elements = patch
        .get(name)
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    if dice.happens(8) && !["volumes", "containers"].contains(&name) {
        elements.insert(dice.below(elements.len() + 1), json!({ "$patch": "replace" }));
        elements.retain(|element| {
            element.get("$patch").is_some() || !before.iter().any(|old| old[key] == element[key])
        });
        patch.insert(name.to_owned(), elements.into());
        return;
    }
    for element in &gone {
        elements.retain(|other| other[key] != element[key]);
        elements.insert(
            dice.below(elements.len() + 1),
            json!({ key: element[key], "$patch": "delete" }),
        );
        if dice.happens(25) {
            // Deleted, and written anew.
            elements.insert(dice.below(elements.len() + 1), element.clone());
        }
    }
    if dice.happens(25) {
        order(dice, patch, (name, key), &elements, before);
    }
    if !elements.is_empty() {
        patch.insert(name.to_owned(), elements.into());
    }
}

/// The elements of the patch in their order, with some of those that are there among them.
fn order(
    dice: &mut Dice,
    patch: &mut Map<String, Value>,
    (name, key): (&str, &str),
    elements: &[Value],
    before: &[Value],
) {
    let stays = |element: &&Value| element.get("$patch").is_none();
    let mut order: Vec<Value> = elements
        .iter()
        .filter(stays)
        .map(|element| json!({ key: element[key] }))
        .collect();
    let rest = before
        .iter()
        .filter(|old| !elements.iter().any(|element| element[key] == old[key]));
    for old in rest {
        if dice.happens(60) {
            order.insert(dice.below(order.len() + 1), json!({ key: old[key] }));
        }
    }
    if !order.is_empty() {
        patch.insert(format!("$setElementOrder/{name}"), order.into());
    }
}
