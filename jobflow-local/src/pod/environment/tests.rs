use super::*;
use crate::pod::{
    addresses::{AddressBook, Range},
    identity::{JobIdentity, PodPlace},
};
use serde_json::{Value, json};

fn objects() -> ConfigObjects {
    let mut objects = ConfigObjects::default();
    let map = json!({"kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"A": "from map", "B": "b"}});
    let secret = json!({"kind": "Secret", "metadata": {"name": "s"}, "data": {"P": "cHc="}});
    objects.add(&map).unwrap();
    objects.add(&secret).unwrap();
    objects
}

type Resolved = (BTreeMap<String, String>, Vec<String>);

fn resolve(container: &Value) -> Result<Resolved, Vec<String>> {
    let mut container = container.clone();
    container["name"] = json!("main");
    container["command"] = container.get("command").cloned().unwrap_or(json!(["true"]));
    let template = json!({"metadata": {"labels": {"team": "blue"}}, "spec": {"containers": [container]}});
    let template = PodTemplate::read(&template).unwrap();
    let job = JobIdentity {
        name: "j".into(),
        namespace: "n".into(),
        uid: "u".into(),
        queue: "default".into(),
    };
    let place = PodPlace {
        task: "w",
        index: 2,
        version: 1,
        retry_count: 0,
    };
    let address = AddressBook::of(Range::FIRST).take(3).unwrap().of(2);
    let pod = PodIdentity::new(&job, place, &template.metadata, address, "here", None);
    let mut machine = Machine::default();
    machine.set("cpu", Quantity::whole(8));
    let scope = Scope {
        pod: &pod,
        template: &template,
        objects: &objects(),
        machine: &machine,
    };
    let container = &template.spec.containers[0];
    let plugins = [("VC_TASK_INDEX".to_owned(), "2".to_owned())];
    let declared = declared(scope, &FieldPath::root().field("c"), container, &plugins)
        .map_err(|faults| texts(&faults))?;
    let command = command(container, &declared);
    Ok((declared, command))
}

fn texts(faults: &[PodFault]) -> Vec<String> {
    faults.iter().map(ToString::to_string).collect()
}

fn check(env: Value, expected: &[(&str, &str)]) {
    let (mut declared, _) = resolve(&json!({"env": env})).unwrap();
    declared.remove("VC_TASK_INDEX");
    let declared: Vec<(&str, &str)> = declared
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(declared, expected);
}

#[test]
fn a_variable_may_use_those_before_it() {
    let env = json!([{"name": "A", "value": "1"}, {"name": "B", "value": "$(A)$(C)"}, {"name": "C", "value": "$$(A)"}]);
    check(env, &[("A", "1"), ("B", "1$(C)"), ("C", "$(A)")]);
}

#[test]
fn fields_of_the_pod_are_shown() {
    let from = |name: &str, path: &str| json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}});
    let env = json!([
        from("A", "metadata.name"),
        from("B", "metadata.labels['team']"),
        from("C", "metadata.labels['volcano.sh/task-index']"),
        from("D", "metadata.annotations['volcano.sh/job-version']"),
        from("E", "status.podIP"),
        from("F", "spec.serviceAccountName"),
        from("G", "metadata.labels['none']"),
    ]);
    let expected = [
        ("A", "j-w-2"),
        ("B", "blue"),
        ("C", "2"),
        ("D", "1"),
        ("E", "127.1.0.3"),
        ("F", "default"),
        ("G", ""),
    ];
    check(env, &expected);
}

#[test]
fn keys_and_whole_objects_are_given() {
    let container = json!({
        "envFrom": [{"configMapRef": {"name": "m"}, "prefix": "X_"}, {"secretRef": {"name": "s"}},
            {"configMapRef": {"name": "none", "optional": true}}],
        "env": [{"name": "X_A", "value": "own"},
            {"name": "K", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "A"}}},
            {"name": "S", "valueFrom": {"secretKeyRef": {"name": "s", "key": "P"}}},
            {"name": "O", "valueFrom": {"secretKeyRef": {"name": "s", "key": "none", "optional": true}}}],
        "command": ["echo", "$(S)", "$(VC_TASK_INDEX)"], "args": ["$(X_B)", "$(PATH)"]});
    let (declared, command) = resolve(&container).unwrap();
    let names: Vec<&str> = declared.keys().map(String::as_str).collect();
    assert_eq!(names, ["K", "P", "S", "VC_TASK_INDEX", "X_A", "X_B"]);
    assert_eq!(declared["X_A"], "own");
    assert_eq!(command, ["echo", "pw", "2", "b", "$(PATH)"]);
}

#[test]
fn requests_and_limits_are_shown_in_their_unit() {
    let from = |name: &str, resource: &str, divisor: &str| json!({"name": name, "valueFrom": {"resourceFieldRef": {"resource": resource, "divisor": divisor}}});
    let container = json!({
        "resources": {"requests": {"cpu": "1500m"}, "limits": {"memory": "64Mi"}},
        "env": [from("A", "requests.cpu", "0"), from("B", "requests.cpu", "1m"), from("C", "limits.memory", "1Mi"),
            from("D", "requests.memory", "1"), from("E", "limits.cpu", "1")]});
    let (declared, _) = resolve(&container).unwrap();
    let values: Vec<&str> = ["A", "B", "C", "D", "E"]
        .iter()
        .map(|name| declared[*name].as_str())
        .collect();
    assert_eq!(values, ["2", "1500", "64", "67108864", "8"]);
}

#[test]
fn every_reference_that_leads_nowhere_is_named() {
    let container = json!({
        "envFrom": [{"secretRef": {"name": "none"}}],
        "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.qosClass"}}},
            {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "none"}}},
            {"name": "C", "valueFrom": {"resourceFieldRef": {"resource": "cpu"}}},
            {"name": "D", "valueFrom": {}}, {"name": "a=b", "value": "x"}]});
    let faults = resolve(&container).unwrap_err();
    assert_eq!(
        faults,
        [
            "c.envFrom[0]: there is no Secret `none`: give the file that defines it, or make the reference optional",
            "c.env[0]: field `status.qosClass` does not exist on one machine",
            "c.env[1]: ConfigMap `m` has no key `none`",
            "c.env[2]: `cpu` is no resource",
            "c.env[3]: valueFrom has no source that is known here",
            r#"c.env[4]: "a=b" can't be a variable: empty, `=` or a zero byte"#,
        ]
    );
}
