//! What starts with what, by flows of which each has one thing to wait for.

use jobflow_core::snapshot::PodCounts;
use jobflow_k8s::parse::{Known, parse};
use jobflow_k8s::types::JobFlow;

use super::*;

/// The waves of a flow, one a line: what starts it, and the names.
fn waves(spec: &str) -> Vec<String> {
    let manifest = format!("metadata: {{name: f}}\nspec:\n{spec}");
    let mut value: serde_json::Value = serde_saphyr::from_str(&manifest).unwrap();
    value["apiVersion"] = "flow.volcano.sh/v1alpha1".into();
    value["kind"] = "JobFlow".into();
    let flow: JobFlow = serde_json::from_value(value).unwrap();
    let flow = parse(&flow, Known::default()).unwrap();
    let main = TaskCount {
        task: "main".into(),
        replicas: 2,
        counts: PodCounts::default(),
    };
    let tasks: Tasks = (0..)
        .map(NodeId)
        .take(flow.graph.len())
        .map(|node| (node, Arc::from([main.clone()])))
        .collect();
    let rehearsal = Rehearsal::of(&flow, &tasks);
    let name = |node: &NodeId| flow.graph.entry(*node).name.to_string();
    let names = |nodes: &[NodeId]| nodes.iter().map(name).collect::<Vec<_>>().join(" ");
    let line = |wave: &Wave| format!("{:?}: {}", wave.start, names(&wave.nodes));
    let never: Vec<NodeId> = rehearsal.never().collect();
    let never = (!never.is_empty()).then(|| format!("never: {}", names(&never)));
    rehearsal.waves.iter().map(line).chain(never).collect()
}

#[test]
fn a_diamond_has_three_waves() {
    let spec = "  flows:\n  - {name: d, dependsOn: {targets: [b, c]}}\n  - {name: b, dependsOn: {targets: [a]}}\n  - {name: \
                c, dependsOn: {targets: [a]}}\n  - {name: a}\n";
    assert_eq!(waves(spec), ["AtOnce: a", "Ended: b c", "Ended: d"]);
}

#[test]
fn a_limit_cuts_waves_and_the_longest_path_goes_first() {
    let spec = "  parallelism: 1\n  flows:\n  - {name: short}\n  - {name: long}\n  - {name: end, dependsOn: {targets: [long]}}\n";
    assert_eq!(waves(spec), ["AtOnce: long", "Ended: short", "Ended: end"]);
}

#[test]
fn what_waits_for_a_running_target_starts_before_that_has_ended() {
    let spec = "  flows:\n  - {name: serve}\n  - {name: ask, dependsOn: {targets: [serve], condition: Running}}\n  - {name: \
                done, dependsOn: {targets: [serve]}}\n";
    assert_eq!(waves(spec), ["AtOnce: serve", "Running: ask", "Ended: done"]);
}

/// Pods that run answer, as far as anybody can tell ahead.
#[test]
fn what_waits_for_an_answer_starts_when_its_target_runs() {
    for probe in [
        "{tcpSocketList: [{port: 80}]}",
        "{httpGetList: [{taskName: main, path: /healthz, port: 80}], successThreshold: 3}",
        "{taskStatusList: [{taskName: main, phase: Running}]}",
    ] {
        let spec = format!(
            "  flows:\n  - {{name: serve}}\n  - {{name: ask, dependsOn: {{targets: [serve], probe: {probe}}}}}\n  - {{name: \
             done, dependsOn: {{targets: [serve, ask]}}}}\n"
        );
        assert_eq!(
            waves(&spec),
            ["AtOnce: serve", "Running: ask", "Ended: done"],
            "{probe}"
        );
    }
}

#[test]
fn delays_pass_and_finally_comes_last() {
    let spec = "  flows:\n  - {name: a}\n  - {name: late, dependsOn: {rules: [{target: a, condition: Completed, delaySeconds: 30}]}}\n  \
                finally:\n  - {name: clean}\n";
    let waves = waves(spec);
    assert_eq!(waves, ["AtOnce: a", "After(Span(30000)): late", "Ended: clean"]);
}

#[test]
fn what_waits_for_a_failure_never_starts() {
    let spec = "  suspend: true\n  flows:\n  - {name: a}\n  - {name: alarm, dependsOn: {targets: [a], condition: Failed}}\n";
    assert_eq!(waves(spec), ["AtOnce: a", "never: alarm"]);
}

#[test]
fn a_long_chain_ends() {
    let entry = |at: usize| match at {
        0 => "  - {name: n0}\n".to_owned(),
        at => format!("  - {{name: n{at}, dependsOn: {{targets: [n{}]}}}}\n", at - 1),
    };
    let spec: String = std::iter::once("  flows:\n".to_owned())
        .chain((0..300).map(entry))
        .collect();
    assert_eq!(waves(&spec).len(), 300);
}
