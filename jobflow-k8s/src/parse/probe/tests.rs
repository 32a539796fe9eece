use jobflow_core::Span;
use jobflow_core::probe::{Ask, HttpGet, Probe, Replicas};
use serde_json::{Value, json};

use super::*;
use crate::parse::{Known, parse};
use crate::types::JobFlow;

/// What `b` waits for of `a`, with this as its `dependsOn` beside `targets: [a]`.
fn rules(depends_on: Value) -> Result<Vec<Condition>, Vec<String>> {
    let mut depends_on = depends_on;
    depends_on["targets"] = json!(["a"]);
    let object = json!({
        "apiVersion": "flow.volcano.sh/v1alpha1",
        "kind": "JobFlow",
        "metadata": {"name": "f"},
        "spec": {"flows": [{"name": "a"}, {"name": "b", "dependsOn": depends_on}]},
    });
    let flow: JobFlow = serde_json::from_value(object).unwrap();
    let faults = |faults: Vec<Fault>| faults.iter().map(ToString::to_string).collect::<Vec<_>>();
    let flow = parse(&flow, Known::default()).map_err(faults)?;
    let rules = flow.graph.entries()[1].targets[0].rules.as_slice();
    Ok(rules.iter().map(|rule| rule.condition.clone()).collect())
}

fn probe(task: &str, port: u16, ask: Ask) -> Probe {
    Probe {
        task: task.into(),
        port,
        ask,
        period: Span::from_secs(10),
        timeout: Span::from_secs(1),
        success_threshold: 1,
        replicas: Replicas::All,
    }
}

fn get(path: &str) -> HttpGet {
    HttpGet {
        tls: false,
        path: path.into(),
        headers: Arc::default(),
    }
}

#[test]
fn a_flow_as_volcano_writes_it_is_probed_with_the_defaults() {
    let found = rules(json!({"probe": {
        "httpGetList": [{"taskName": "server", "path": "/healthz", "port": 8080, "httpHeader": {"name": "", "value": ""}}],
        "tcpSocketList": [{"taskName": "server", "port": 9090}],
        "taskStatusList": [{"taskName": "server", "phase": "Running"}],
    }}))
    .unwrap();
    let [started, http, tcp, task] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(*started, Condition::Started);
    let wanted = probe("server", 8080, Ask::HttpGet(get("/healthz")));
    assert_eq!(*http, Condition::Probe(Arc::new(wanted)));
    assert_eq!(
        *tcp,
        Condition::Probe(Arc::new(probe("server", 9090, Ask::TcpSocket)))
    );
    assert!(matches!(task, Condition::Task(_)));
}

#[test]
fn tuning_reaches_each_probe() {
    let found = rules(json!({"condition": "Running", "probe": {
        "httpGetList": [{"port": 443, "httpHeader": {"name": "X-Check", "value": "1"}}],
        "scheme": "HTTPS", "periodSeconds": 2, "timeoutSeconds": 3, "successThreshold": 4, "replicas": "Any",
    }}))
    .unwrap();
    let wanted = Probe {
        period: Span::from_secs(2),
        timeout: Span::from_secs(3),
        success_threshold: 4,
        replicas: Replicas::Any,
        ..probe(
            "",
            443,
            Ask::HttpGet(HttpGet {
                tls: true,
                path: "/".into(),
                headers: [("X-Check".into(), "1".into())].into(),
            }),
        )
    };
    assert_eq!(found, [Condition::Running, Condition::Probe(Arc::new(wanted))]);
}

#[test]
fn a_probe_of_nothing_is_none() {
    for probe in [
        json!({}),
        json!({"httpGetList": [], "taskStatusList": []}),
        json!(null),
    ] {
        assert_eq!(rules(json!({"probe": probe})), Ok(vec![Condition::Completed]));
    }
}

#[test]
fn what_can_not_be_asked_is_told_with_its_place() {
    let with = |field: &str, value: Value| json!({"tcpSocketList": [{"port": 1}], field: value});
    for (probe, fault) in [
        (
            json!({"tcpSocketList": [{}]}),
            "tcpSocketList[0].port: a probe needs a `port`",
        ),
        (
            json!({"tcpSocketList": [{"port": 0}]}),
            "tcpSocketList[0].port: 0 is out of range: 1 to 65535",
        ),
        (
            json!({"httpGetList": [{"port": 65536}]}),
            "httpGetList[0].port: 65536 is out of range: 1 to 65535",
        ),
        (
            json!({"httpGetList": [{"port": 80, "path": "@169.254.169.254/"}]}),
            "httpGetList[0].path: a path begins with one `/`",
        ),
        (
            json!({"httpGetList": [{"port": 80, "httpHeader": {"name": "Host", "value": "x"}}]}),
            "httpGetList[0].httpHeader.name: a probe sends no header `Host`",
        ),
        (
            with("periodSeconds", json!(0)),
            "periodSeconds: 0 is out of range: 1 to 86400",
        ),
        (
            with("timeoutSeconds", json!(-1)),
            "timeoutSeconds: -1 is out of range: 1 to 3600",
        ),
        (
            with("successThreshold", json!(1001)),
            "successThreshold: 1001 is out of range: 1 to 1000",
        ),
        (
            with("scheme", json!("HTTPS")),
            "scheme: `scheme` says nothing without `httpGetList`",
        ),
        (
            json!({"taskStatusList": [{"phase": "Running"}], "periodSeconds": 3}),
            "periodSeconds: `periodSeconds` says nothing without `httpGetList` or `tcpSocketList`",
        ),
    ] {
        let found = rules(json!({"probe": probe})).unwrap_err();
        assert_eq!(found.len(), 1, "{found:?}");
        let wanted = format!("spec.flows[1].dependsOn.probe.{fault}");
        assert!(found[0].contains(&wanted), "{wanted}: {found:?}");
    }
}
