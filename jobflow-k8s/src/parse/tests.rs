use jobflow_core::graph::Strategy;
use jobflow_core::policy::{FailurePolicy, Retain};
use serde_json::json;

use super::*;
use crate::yaml;

fn document(spec: &str) -> Document {
    let spec = spec.replace('\n', "\n  ");
    let text = format!(
        "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {{name: f, uid: u}}\nspec:\n  {spec}\n"
    );
    let mut reading = yaml::read("f", &text);
    assert_eq!(reading.faults, []);
    reading.documents.remove(0)
}

fn parsed(spec: &str) -> Result<Flow, Vec<String>> {
    known(spec, Known::default())
}

fn known(spec: &str, known: Known<'_>) -> Result<Flow, Vec<String>> {
    parse_document(&Schemas::new(), &document(spec), known)
        .map_err(|faults| faults.iter().map(ToString::to_string).collect())
}

fn faults(spec: &str) -> Vec<String> {
    parsed(spec).err().unwrap_or_default()
}

fn template(tasks: &[(&str, i32)]) -> KnownTemplate {
    let task = |(name, replicas): &(&str, i32)| crate::job::TaskView {
        name: (*name).to_owned(),
        replicas: *replicas,
        ..Default::default()
    };
    KnownTemplate {
        view: JobView {
            tasks: tasks.iter().map(task).collect(),
            ..JobView::default()
        },
        ..KnownTemplate::default()
    }
}

#[test]
fn no_dependency_can_be_written_in_four_ways() {
    let flow = parsed(
        "flows: [{name: a}, {name: b, dependsOn: null}, {name: c, dependsOn: {}}, {name: d, dependsOn: {targets: []}}]",
    );
    let flow = flow.unwrap();
    assert!(flow.graph.entries().iter().all(|entry| entry.targets.is_empty()));
}

#[test]
fn an_empty_flow_is_one() {
    assert!(parsed("flows: []").unwrap().graph.is_empty());
    assert!(parsed("{}").unwrap().graph.is_empty());
}

#[test]
fn a_flow_without_our_fields_waits_for_completion() {
    let flow = parsed("jobRetainPolicy: delete\nflows: [{name: b, dependsOn: {targets: [a, a]}}, {name: a}]")
        .unwrap();
    let entry = &flow.graph.entries()[0];
    assert_eq!(entry.targets.len(), 1);
    assert_eq!(entry.targets[0].rules, Rules::One(Rule::implied()));
    assert_eq!(flow.policy.retain_on_success, Retain::Delete);
    assert_eq!(flow.policy.retain_on_failure, Retain::Keep);
    assert_eq!(flow.warnings, []);
}

#[test]
fn what_a_flow_says_reaches_the_core() {
    let flow = parsed(
        "parallelism: 3
failurePolicy: CancelAll
activeDeadlineSeconds: 60
suspendRunning: true
cancel: {mode: Now}
retry: {limit: 2}
flows:
- name: a
- name: b
  retry: {infrastructureLimit: 1, on: [{exitCodes: [3], phases: [Aborted]}]}
  timeoutSeconds: 5
  timeoutScope: Node
  allowFailure: true
  dependsOn:
    strategy: AtLeast
    atLeast: 50%
    targets: [a]
    condition: Finished
    rules:
    - {target: c, condition: Ready, atLeast: 2, delaySeconds: 7}
    - {target: c, task: main, condition: Completed}
- name: c
finally:
- name: z",
    )
    .unwrap();
    let [a, b, _, z] = flow.graph.entries() else {
        panic!("four entries")
    };
    assert_eq!(
        (a.retry.limit, b.retry.limit, b.retry.infrastructure_limit),
        (2, 0, 1)
    );
    assert!(z.finally && b.allow_failure);
    assert_eq!(b.strategy, Strategy::AtLeast(1));
    let rules: Vec<_> = b
        .targets
        .iter()
        .map(|target| target.rules.as_slice().len())
        .collect();
    assert_eq!(rules, [2, 1]);
    assert_eq!(flow.policy.failure_policy, FailurePolicy::CancelAll);
    assert_eq!(flow.policy.parallelism, Some(3));
    assert!(
        flow.wishes.cancel.is_some() && !flow.wishes.suspend_running,
        "suspendRunning needs suspend"
    );
    assert_ne!(a.hash, b.hash);
}

#[test]
fn faults_of_the_graph_have_their_places() {
    let spec = "flows:
- name: train
  dependsOn: {targets: [evl]}
- name: eval
  dependsOn:
    targets: [train, report]
- name: report
  dependsOn: {targets: [eval]}
- {name: train}
finally:
- name: z
  dependsOn: {targets: [train]}";
    assert_eq!(
        faults(spec),
        [
            "f:13:6: error[duplicate-name]: spec.flows[3].name: `train` stands twice",
            "f:7:27: error[unknown-reference]: spec.flows[0].dependsOn.targets[0]: the flow has no entry `evl` (did you mean `eval`?)",
            "f:16:27: error[conflict]: spec.finally[0].dependsOn.targets[0]: entry \"z\" and target \"train\" are on different sides of `finally` (entries of `finally` run after all others anyway, and may depend on each other only)",
            "f:9:5: error[cycle]: spec.flows[1].dependsOn: entries wait for each other: eval -> report -> eval (take one of these dependencies away)",
        ]
    );
    assert_eq!(faults("flows: [{name: a, dependsOn: {targets: [a]}}]").len(), 1);
}

#[test]
fn what_is_not_available_yet_is_refused_by_its_path() {
    for (spec, path) in [
        ("requests: [{id: a, verb: Retry}]", "spec.requests"),
        ("flowTemplate: x", "spec.flowTemplate"),
        ("tasks: [{name: a}]", "spec.tasks"),
        ("parameters: [{name: a}]", "spec.parameters"),
        ("arguments: {a: 1}", "spec.arguments"),
        ("flows: [{name: a, when: 'true'}]", "spec.flows[0].when"),
        ("flows: [{name: a, switch: {on: 'x'}}]", "spec.flows[0].switch"),
        ("flows: [{name: a, forEach: {range: 3}}]", "spec.flows[0].forEach"),
        (
            "flows: [{name: a, outputs: [{name: x}]}]",
            "spec.flows[0].outputs",
        ),
        ("flows: [{name: a, approval: {}}]", "spec.flows[0].approval"),
        ("flows: [{name: a, flow: {template: x}}]", "spec.flows[0].flow"),
        (
            "flows: [{name: a, patch: {jobSpec: {queue: '${{ x }}'}}}]",
            "spec.flows[0].patch.jobSpec.queue",
        ),
        (
            "flows: [{name: a, patch: {annotations: {x: '${{ x }}'}}}]",
            "spec.flows[0].patch.annotations.x",
        ),
        (
            "flows: [{name: a, jobSpec: {queue: '${{ x }}'}}]",
            "spec.flows[0].jobSpec.queue",
        ),
        (
            "flows: [{name: b}, {name: a, dependsOn: {rules: [{target: b, pairwise: true}]}}]",
            "spec.flows[1].dependsOn.rules[0].pairwise",
        ),
    ] {
        let found = faults(spec);
        assert!(
            found
                .iter()
                .any(|fault| fault.contains(&format!("error[not-available]: {path}: "))
                    && fault.contains("f:")),
            "{spec}: {found:?}"
        );
    }
    assert!(parsed("requests: []\nflows: [{name: a, patch: {labels: {x: z}}}]").is_ok());
}

#[test]
fn conditions_that_make_no_sense_are_refused() {
    for (rest, fault) in [
        (
            "rules: [{target: b, condition: Pending}]",
            "rules[0].condition: `Pending` speaks of the pods of a task",
        ),
        (
            "rules: [{target: b, condition: Failed, atLeast: 2}]",
            "rules[0].atLeast: `atLeast` counts pods",
        ),
        (
            "rules: [{target: b, task: m, atLeast: 0%}]",
            "rules[0].atLeast: `0%` is no number above 0",
        ),
        (
            "targets: [b], atLeast: 1",
            "atLeast: `atLeast` needs `strategy: AtLeast`",
        ),
        (
            "targets: [b], strategy: AtLeast",
            "atLeast: the strategy `AtLeast` needs `atLeast`",
        ),
        (
            "targets: [b], strategy: AtLeast, atLeast: 2",
            "atLeast: at least 2 of 1 targets can not be met",
        ),
        (
            "probe: {taskStatusList: [{taskName: m, phase: Running}]}",
            "probe: a probe needs `targets`",
        ),
        (
            "targets: [b], probe: {taskStatusList: [{phase: Runing}]}",
            "probe.taskStatusList[0].phase: `Runing` is no phase",
        ),
        (
            "custom: [{kind: x, target: b}]",
            "custom[0].kind: no predicate of kind `x`",
        ),
    ] {
        let found = faults(&format!(
            "flows: [{{name: b}}, {{name: a, dependsOn: {{{rest}}}}}]"
        ));
        assert_eq!(found.len(), 1, "{rest}: {found:?}");
        assert!(
            found[0].contains(&format!("spec.flows[1].dependsOn.{fault}")),
            "{rest}: {found:?}"
        );
    }
}

#[test]
fn a_probe_applies_to_the_targets_that_have_its_task() {
    let templates = [
        ("a".to_owned(), template(&[("ps", 1)])),
        ("b".to_owned(), template(&[("worker", 2)])),
    ]
    .into();
    let known_templates = Known {
        templates: Some(&templates),
        predicates: &[],
    };
    let spec = |task: &str| {
        format!(
            "flows: [{{name: a}}, {{name: b}}, {{name: c, dependsOn: {{targets: [a, b], probe: {{taskStatusList: [{{taskName: {task}, phase: Completed}}]}}}}}}]"
        )
    };
    let rules = |task: &str| {
        let flow = known(&spec(task), known_templates).unwrap();
        let targets = &flow.graph.entries()[2].targets;
        targets
            .iter()
            .map(|target| target.rules.as_slice().len())
            .collect::<Vec<_>>()
    };
    assert_eq!(rules("ps"), [2, 1]);
    assert_eq!(rules("''"), [2, 2]);
    let found = known(&spec("wroker"), known_templates).unwrap_err();
    assert!(
        found[0].contains("no target has a task `wroker` (did you mean `worker`?)"),
        "{found:?}"
    );
    let unknown = parsed(&spec("ps")).unwrap();
    assert_eq!(unknown.graph.entries()[2].targets[0].rules.as_slice().len(), 2);
}

#[test]
fn names_that_get_too_long_or_meet_are_refused() {
    let long = "x".repeat(51);
    let templates = [(long.clone(), template(&[("worker", 1000)]))].into();
    let found = known(
        &format!("flows: [{{name: {long}}}]"),
        Known {
            templates: Some(&templates),
            predicates: &[],
        },
    );
    let found = found.unwrap_err();
    assert!(
        found[0]
            .contains("error[name-too-long]: spec.flows[0].name: the longest name of a pod of task `worker`"),
        "{found:?}"
    );
    let found = faults("flows: [{name: a}, {name: a-r2}]");
    assert!(
        found[0].contains("error[name-collision]: spec.flows[1].name: a job of this entry and one of `a`"),
        "{found:?}"
    );
    let found = faults(&format!("flows: [{{name: {}}}]", "y".repeat(64)));
    assert!(
        found.iter().any(|fault| fault.contains("error[bad-name]")),
        "{found:?}"
    );
}

#[test]
fn a_stored_object_is_checked_without_its_text() {
    let flow = JobFlow::new(
        "f",
        JobFlowSpec {
            flows: Some(vec![types::Entry {
                name: "../x".into(),
                ..Default::default()
            }]),
            ..Default::default()
        },
    );
    let faults = parse(&flow, Known::default()).unwrap_err();
    assert_eq!(faults[0].code, Code::BadName);
    let numbers: JobFlowSpec = serde_json::from_value(json!({
        "parallelism": -1, "activeDeadlineSeconds": i64::MAX, "retry": { "limit": i64::MAX, "backoff": { "maxSeconds": -5 } },
        "flows": [{ "name": "a", "timeoutSeconds": 0 }],
    }))
    .unwrap();
    let faults = parse(&JobFlow::new("f", numbers), Known::default()).unwrap_err();
    let paths: Vec<_> = faults.iter().map(|fault| fault.path.to_string()).collect();
    for path in [
        "spec.parallelism",
        "spec.activeDeadlineSeconds",
        "spec.retry.limit",
        "spec.retry.backoff.maxSeconds",
        "spec.flows[0].timeoutSeconds",
    ] {
        assert!(paths.contains(&path.to_owned()), "{path}: {paths:?}");
    }
}

#[test]
fn a_flow_that_is_too_large_is_refused_with_its_size() {
    let entry = |at: usize| types::Entry {
        name: format!("e{at}-{}", "x".repeat(50)),
        ..Default::default()
    };
    let spec = JobFlowSpec {
        flows: Some((0..20_000).map(entry).collect()),
        ..Default::default()
    };
    let faults = parse(&JobFlow::new("f", spec), Known::default()).unwrap_err();
    assert!(
        faults.iter().any(|fault| fault.code == Code::TooLarge),
        "{:?}",
        faults.first()
    );
}

use jobflow_core::condition::{Rule, Rules};

fn spec_of(text: &str) -> KnownTemplate {
    let document = yaml::read("t", text).documents.remove(0);
    KnownTemplate::of(document.value.as_object().unwrap()).unwrap()
}

const SERVICE: &str = "
ttlSecondsAfterFinished: 60
maxRetry: 1000
policies: [{event: TaskCompleted, action: RestartJob}]
tasks: [{name: main, replicas: 1, template: {spec: {containers: [{name: main, image: x}]}}}]
";

#[test]
fn a_job_that_restarts_itself_never_completes_for_those_that_wait_for_it() {
    let templates = BTreeMap::from([("server".to_owned(), spec_of(SERVICE))]);
    let known_templates = Known {
        templates: Some(&templates),
        predicates: &[],
    };
    let warnings = |spec: &str| -> Vec<String> {
        let flow = known(spec, known_templates).unwrap();
        flow.warnings.iter().map(ToString::to_string).collect()
    };
    let found = warnings("flows: [{name: server}, {name: b, dependsOn: {targets: [server]}}]");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with("f:5:12: warning[bad-job]: spec.flows[0].name: `ttlSecondsAfterFinished` of this entry's Job is 60"),
        "{found:?}"
    );
    assert!(
        found[1].starts_with(
            "f:5:59: warning[bad-job]: spec.flows[1].dependsOn.targets[0]: `server` never completes"
        ),
        "{found:?}"
    );
    let patched = "flows: [{name: server, patch: {remove: [ttlSecondsAfterFinished]}},
 {name: b, dependsOn: {targets: [server], condition: Ready}}]";
    assert_eq!(warnings(patched), <[&str; 0]>::default());
    assert_eq!(warnings("flows: [{name: server}]"), <[&str; 0]>::default());
}

#[test]
fn names_and_probes_go_by_the_patched_job() {
    let templates = BTreeMap::from([(
        "t".to_owned(),
        spec_of(
            "tasks: [{name: main, replicas: 1, template: {spec: {containers: [{name: main, image: x}]}}}]",
        ),
    )]);
    let known_templates = Known {
        templates: Some(&templates),
        predicates: &[],
    };
    let spec = |replicas: u32, probe: &str| {
        format!(
            "flows:
- name: {}
  template: t
  patch: {{allowNew: true, jobSpec: {{tasks: [{{name: main, replicas: {replicas}}}, {{name: more, replicas: 1}}]}}}}
- name: b
  dependsOn: {{targets: [{0}], probe: {{taskStatusList: [{{taskName: {probe}, phase: Running}}]}}}}",
            "a".repeat(53)
        )
    };
    assert!(known(&spec(1, "more"), known_templates).is_ok());
    let long = known(&spec(1001, "more"), known_templates).unwrap_err();
    assert!(
        long[0].contains("error[name-too-long]: spec.flows[0].name"),
        "{long:?}"
    );
    let missing = known(&spec(1, "none"), known_templates).unwrap_err();
    assert!(missing[0].contains("no target has a task `none`"), "{missing:?}");
}

#[test]
fn an_entrys_hash_covers_its_patch() {
    let hash = |patch: &str| {
        parsed(&format!("flows: [{{name: a, patch: {patch}}}]"))
            .unwrap()
            .graph
            .entries()[0]
            .hash
    };
    let patches = [
        "{}",
        "{jobSpec: {queue: q}}",
        "{jobSpec: {queue: null}}",
        "{remove: [queue]}",
        "{labels: {a: b}}",
        "{allowNew: true}",
    ];
    let hashes: BTreeSet<u64> = patches.iter().map(|patch| hash(patch)).collect();
    assert_eq!(hashes.len(), patches.len());
}

#[test]
fn what_is_wrong_with_a_patch_itself_is_wrong_with_the_flow() {
    let found =
        faults("flows: [{name: a, patch: {remove: ['tasks[a'], labels: {flow.volcano.sh/entry: x}}}]");
    assert!(
        found.iter().any(
            |fault| fault.starts_with("f:5:38: error[bad-patch]: spec.flows[0].patch.remove[0]: no path")
        ),
        "{found:?}"
    );
    assert!(
        found
            .iter()
            .any(|fault| fault.contains("is written by the controller only")),
        "{found:?}"
    );
}
