use serde_json::json;

use super::*;
use crate::yaml;

fn faults(text: &str) -> Vec<String> {
    let reading = yaml::read("f", text);
    assert_eq!(reading.faults, []);
    let schemas = Schemas::new();
    let faults = reading
        .documents
        .iter()
        .flat_map(|document| schemas.check_document(document));
    faults.map(|fault| fault.to_string()).collect()
}

fn flow(spec: &str) -> Vec<String> {
    let spec = spec.replace('\n', "\n  ");
    faults(&format!(
        "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {{name: a}}\nspec:\n  {spec}\n"
    ))
}

fn template(spec: &str) -> Vec<String> {
    let spec = spec.replace('\n', "\n  ");
    faults(&format!(
        "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobTemplate\nmetadata: {{name: a}}\nspec:\n  {spec}\n"
    ))
}

#[test]
fn the_stock_example_has_no_fault() {
    let flow = "jobRetainPolicy: delete
flows:
- name: a
- name: b
  dependsOn:
    targets: ['a']
- name: c
  dependsOn: null
- name: d
  dependsOn: {targets: []}";
    assert_eq!(self::flow(flow), [""; 0]);
    let template = "schedulerName: volcano
minAvailable: 1
queue: default
tasks:
- replicas: 1
  name: default-nginx
  template:
    metadata: {creationTimestamp: null, name: web}
    spec:
      containers:
      - image: nginx
        imagePullPolicy: IfNotPresent
        name: nginx
        resources: {requests: {cpu: 1, memory: 0.5, ephemeral-storage: 1Gi}}
        ports: [{containerPort: 80}]
      volumes: [{name: x, configMap: {name: x, defaultMode: 0644}}]
      restartPolicy: OnFailure
plugins: {ssh: [], env: [], svc: [--x], ray: null}";
    assert_eq!(self::template(template), [""; 0]);
}

#[test]
fn all_faults_are_found_at_once_with_their_places() {
    let spec = "suspend: \"true\"
failurePolicy: stopNew
flows:
- nmae: a
- name: b
  dependsOn: [a]
  retry: {limit: \"3\"}
- name: C_d
- name: b
parallelism: 0";
    assert_eq!(
        flow(spec),
        [
            "f:5:3: error[wrong-type]: spec.suspend: expected true or false, found the string \"true\" (write `true` without quotes)",
            "f:6:3: error[bad-value]: spec.failurePolicy: `stopNew` is none of StopNew, CancelAll, Continue (did you mean `StopNew`?)",
            "f:8:5: error[unknown-field]: spec.flows[0].nmae: unknown field `nmae` (did you mean `name`?)",
            "f:8:5: error[missing-field]: spec.flows[0]: the field `name` is missing",
            "f:10:5: error[wrong-type]: spec.flows[1].dependsOn: expected a mapping, found a list",
            "f:11:13: error[wrong-type]: spec.flows[1].retry.limit: expected a whole number, found the string \"3\" (write `3` without quotes)",
            "f:12:5: error[bad-name]: spec.flows[2].name: `C_d` is no valid name (lower-case letters, digits, `-` and `.`; each part between dots begins and ends with a letter or digit)",
            "f:13:5: error[duplicate-name]: spec.flows[3].name: `b` stands twice",
            "f:14:3: error[bad-value]: spec.parallelism: 0 is too small: at least 1",
        ]
    );
}

#[test]
fn quoted_numbers_are_refused_as_the_api_server_does() {
    let spec = "minAvailable: \"2\"\ntasks:\n- replicas: \"1\"\n  template: {spec: {containers: []}}";
    assert_eq!(
        template(spec),
        [
            "f:5:3: error[wrong-type]: spec.minAvailable: expected a whole number, found the string \"2\" (write `2` without quotes)",
            "f:7:5: error[wrong-type]: spec.tasks[0].replicas: expected a whole number, found the string \"1\" (write `1` without quotes)",
        ]
    );
}

#[test]
fn pods_are_checked_but_new_fields_pass_with_a_warning() {
    let spec = "tasks:
- template:
    metadata: {labels: {a: 1}}
    spec:
      priorityClass: high
      containers:
      - image: x
        env: [{name: a, value: 1}]
        resources: {limits: {memory: 4 GB}}";
    assert_eq!(
        template(spec),
        [
            "f:7:27: error[wrong-type]: spec.tasks[0].template.metadata.labels.a: expected a string, found the number 1 (write it in quotes: `\"1\"`)",
            "f:9:9: warning[unknown-field]: spec.tasks[0].template.spec.priorityClass: unknown field `priorityClass` (did you mean `priorityClassName`?)",
            "f:12:27: error[wrong-type]: spec.tasks[0].template.spec.containers[0].env[0].value: expected a string, found the number 1 (write it in quotes: `\"1\"`)",
            "f:13:32: error[bad-value]: spec.tasks[0].template.spec.containers[0].resources.limits.memory: `4 GB` is no amount (write a number with a suffix such as `500m`, `4Gi`, `2`)",
            "f:11:11: error[missing-field]: spec.tasks[0].template.spec.containers[0]: the field `name` is missing",
        ]
    );
}

#[test]
fn look_alikes_are_told_what_they_should_be() {
    for (text, fault) in [
        (
            "apiVersion: batch.volcano.sh/v1alpha1\nkind: JobFlow\nspec: {}\n",
            "f:1:1: error[unknown-kind]: apiVersion: a JobFlow of `batch.volcano.sh/v1alpha1` isn't one that is known here (write `apiVersion: flow.volcano.sh/v1alpha1`)",
        ),
        (
            "apiVersion: flow.volcano.sh/v1alpha1\nkind: Jobflow\nspec: {}\n",
            "f:2:1: error[unknown-kind]: kind: flow.volcano.sh has no kind `Jobflow` (did you mean `JobFlow`?)",
        ),
        (
            "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: a}\nspec: {foo: bar}\n",
            "f:4:8: error[unknown-field]: spec.foo: unknown field `foo`",
        ),
        (
            "kind: JobFlow\nmetadata: {name: a}\nspec: {}\n",
            "f:1:1: error[unknown-kind]: apiVersion: a JobFlow of `` isn't one that is known here (write `apiVersion: flow.volcano.sh/v1alpha1`)",
        ),
        (
            "- a\n- b\n",
            "f:1:1: error[wrong-type]: no object: a manifest is a mapping with `kind` and `apiVersion`",
        ),
    ] {
        assert_eq!(faults(text), [fault], "{text}");
    }
}

#[test]
fn words_of_other_systems_are_translated() {
    for (field, meant) in [
        ("jobTemplate: x", "template"),
        ("needs: [a]", "dependsOn"),
        ("if: x", "when"),
        ("retries: 3", "retry"),
        ("timeout: 3", "timeoutSeconds"),
    ] {
        let found = flow(&format!("flows:\n- name: a\n  {field}"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].ends_with(&format!("(did you mean `{meant}`?)")),
            "{found:?}"
        );
    }
    let found = flow("flows:\n- jobTemplateName: a\n- name: b\n  patch: {spec: {}}");
    assert!(found[0].ends_with("(did you mean `name`?)"), "{found:?}");
    assert!(found[2].ends_with("(did you mean `jobSpec`?)"), "{found:?}");
}

#[test]
fn foreign_kinds_are_none_of_our_business() {
    for text in [
        "apiVersion: batch/v1\nkind: Job\nspec: {x: 1}\n",
        "apiVersion: v1\nkind: Secret\ndata: {a: 1}\n",
    ] {
        assert_eq!(faults(text), [""; 0]);
    }
}

#[test]
fn patches_may_hold_null_directives_and_expressions() {
    let patch = "flows:
- name: a
  patch:
    jobSpec:
      queue: null
      minAvailable: ${{ params.n }}
      tasks:
      - name: main
        replicas: ${{ params.n }}
        $patch: replace
        template: {spec: {containers: [{name: x, image: null, $patch: delete}]}}";
    assert_eq!(flow(patch), [""; 0]);
    let wrong = "flows:\n- name: a\n  patch:\n    jobSpec: {minAvailable: three, tasks: [{replica: 1}]}";
    let found = flow(wrong);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].contains("spec.flows[0].patch.jobSpec.minAvailable: expected a whole number"),
        "{found:?}"
    );
    assert!(
        found[1].contains("warning[unknown-field]") && found[1].ends_with("(did you mean `replicas`?)"),
        "{found:?}"
    );
}

#[test]
fn an_inline_spec_may_hold_expressions_but_must_be_whole() {
    let inline = "flows:
- name: a
  jobSpec:
    minAvailable: ${{ params.n }}
    tasks:
    - template: {spec: {containers: [{image: x}]}}";
    let found = flow(inline);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("containers[0]: the field `name` is missing"),
        "{found:?}"
    );
}

#[test]
fn numbers_beyond_their_type_are_refused() {
    let found = template("minAvailable: 99999999999\nmaxRetry: 1.5");
    assert_eq!(
        found,
        [
            "f:5:3: error[bad-value]: spec.minAvailable: 99999999999 is too large: at most 2147483647",
            "f:6:3: error[wrong-type]: spec.maxRetry: expected a whole number, found the number 1.5",
        ]
    );
}

#[test]
fn a_flood_of_faults_is_cut_and_counted() {
    let flows: Vec<_> = (0..3000).map(|_| json!({ "x": 1 })).collect();
    let faults = Schemas::new().check_object(Kind::JobFlow, &json!({ "spec": { "flows": flows } }));
    assert_eq!(faults.len(), crate::fault::MOST_FAULTS + 1);
    assert_eq!(
        faults.last().map(|fault| fault.message.as_str()),
        Some("and 5000 more faults")
    );
}

#[test]
fn foreign_text_in_a_message_is_short_and_has_no_control_characters() {
    let long = format!("\u{1b}[31m{}", "x".repeat(1000));
    let faults = Schemas::new().check_object(Kind::JobFlow, &json!({ "spec": { "failurePolicy": long } }));
    assert!(
        faults[0].message.len() < 200 && !faults[0].message.contains('\u{1b}'),
        "{}",
        faults[0].message
    );
}
