use super::*;

fn value(metrics: &Metrics, series: &str) -> Option<String> {
    let text = metrics.text();
    let line = text.lines().find(|line| {
        line.strip_prefix(series)
            .is_some_and(|rest| rest.starts_with(' '))
    });
    line.and_then(|line| line.rsplit(' ').next()).map(str::to_owned)
}

#[test]
fn a_flow_counts_in_one_phase_until_it_is_gone() {
    let metrics = Metrics::new();
    let count = |phase| value(&metrics, &format!("jobflow_flows{{phase=\"{phase}\"}}")).unwrap();
    metrics.flow_stands("u1", FlowPhase::Pending);
    metrics.flow_stands("u1", FlowPhase::Running);
    metrics.flow_stands("u1", FlowPhase::Running);
    metrics.flow_stands("u2", FlowPhase::Running);
    assert_eq!(
        (count("Pending"), count("Running")),
        ("0".to_owned(), "2".to_owned())
    );
    metrics.flow_gone("u1");
    metrics.flow_gone("u1");
    assert_eq!(count("Running"), "1");
    metrics.leads(false);
    assert_eq!(count("Running"), "0");
}

#[test]
fn ends_are_counted_by_phase_and_reason_and_other_steps_are_none() {
    let metrics = Metrics::new();
    metrics.node_changed(NodePhase::Queued, NodePhase::Running, None);
    metrics.node_changed(NodePhase::Running, NodePhase::Failed, Some(Reason::Timeout));
    metrics.node_changed(NodePhase::Running, NodePhase::Succeeded, None);
    assert_eq!(
        value(
            &metrics,
            "jobflow_node_transitions_total{from=\"Running\",to=\"Failed\"}"
        )
        .as_deref(),
        Some("1")
    );
    let ends = metrics
        .text()
        .lines()
        .filter(|line| line.starts_with("jobflow_node_ends_total{"))
        .count();
    assert_eq!(ends, 2);
    assert_eq!(
        value(
            &metrics,
            "jobflow_node_ends_total{phase=\"Failed\",reason=\"Timeout\"}"
        )
        .as_deref(),
        Some("1")
    );
}

#[test]
fn the_text_is_whole_and_knows_no_names() {
    let metrics = Metrics::new();
    for index in 0..100 {
        metrics.flow_stands(&format!("uid-{index}"), FlowPhase::Running);
    }
    let lines = metrics.text().lines().count();
    metrics.flow_stands("uid-100", FlowPhase::Running);
    assert_eq!(
        metrics.text().lines().count(),
        lines,
        "another flow is no other series"
    );
    assert!(metrics.text().ends_with("# EOF\n"));
    assert!(!metrics.text().contains("uid-"));
}
