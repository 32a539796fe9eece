//! The same requests, sent to the in-process service and to a real API server, have the same answers.

#![expect(
    clippy::unwrap_used,
    reason = "tests say so when something is not as it must be"
)]

use std::collections::BTreeMap;

use http::Request;
use http_body_util::BodyExt;
use jobflow_test_cluster::{ControlPlane, User};
use jobflow_test_service::Service;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

const FLOWS: &str = "/apis/flow.volcano.sh/v1alpha1/namespaces/$ns/jobflows";
const JOBS: &str = "/apis/batch.volcano.sh/v1alpha1/namespaces/$ns/jobs";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/$ns/leases";
const MERGE: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

/// One request. `$ns` in it stands for the namespace, `$uid:x` and `$version:x` for those of the object that was kept as
/// `x`.
struct Step {
    title: &'static str,
    method: &'static str,
    path: String,
    format: &'static str,
    body: Value,
    keep: &'static str,
}

fn step(title: &'static str, method: &'static str, path: impl Into<String>, body: Value) -> Step {
    Step {
        title,
        method,
        path: path.into(),
        format: "application/json",
        body,
        keep: "",
    }
}

impl Step {
    /// Keeps the object in the answer under a word.
    fn keep(self, keep: &'static str) -> Self {
        Self { keep, ..self }
    }

    fn format(self, format: &'static str) -> Self {
        Self { format, ..self }
    }
}

fn flow(name: &str) -> Value {
    json!({
        "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow",
        "metadata": { "name": name, "labels": { "app": name } },
        "spec": { "flows": [{ "name": "a", "retry": { "limit": 2 } }] },
    })
}

fn job(name: &str) -> Value {
    json!({
        "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": { "name": name },
        "spec": { "minAvailable": 1 },
    })
}

/// An object with fields merged in.
fn with(mut object: Value, fields: Value) -> Value {
    json_patch::merge(&mut object, &fields);
    object
}

fn at(path: &str, rest: &str) -> String {
    format!("{path}{rest}")
}

fn creates() -> Vec<Step> {
    vec![
        step(
            "create",
            "POST",
            FLOWS,
            with(flow("f"), json!({ "status": { "state": { "phase": "Failed" } } })),
        )
        .keep("f"),
        step("create again", "POST", FLOWS, flow("f")),
        step("create another kind", "POST", FLOWS, job("x")),
        step(
            "create elsewhere",
            "POST",
            FLOWS,
            with(flow("x"), json!({ "metadata": { "namespace": "other" } })),
        ),
        step(
            "create without a name",
            "POST",
            FLOWS,
            with(flow("x"), json!({ "metadata": { "name": null } })),
        ),
        step(
            "create with a generated name",
            "POST",
            JOBS,
            with(
                job(""),
                json!({ "metadata": { "name": null, "generateName": "gen-" } }),
            ),
        ),
        step("create with a bad name", "POST", JOBS, job("Bad_Name")),
        step(
            "create with an unknown field",
            "POST",
            FLOWS,
            with(flow("g"), json!({ "spec": { "nonsense": 1 } })),
        )
        .keep("g"),
        step(
            "create with a wrong type",
            "POST",
            FLOWS,
            with(flow("h"), json!({ "spec": { "parallelism": "two" } })),
        ),
        step(
            "create in no namespace",
            "POST",
            "/apis/batch.volcano.sh/v1alpha1/namespaces/nowhere/jobs",
            job("x"),
        ),
        step(
            "create something unknown",
            "POST",
            "/apis/flow.volcano.sh/v1alpha1/namespaces/$ns/nothings",
            flow("x"),
        ),
        step("create a job", "POST", JOBS, job("j")).keep("j"),
        step(
            "create a lease",
            "POST",
            LEASES,
            json!({
                "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": { "name": "l" },
                "spec": { "holderIdentity": "a" },
            }),
        )
        .keep("l"),
    ]
}

fn writes() -> Vec<Step> {
    let f = at(FLOWS, "/f");
    let status = at(FLOWS, "/f/status");
    let of = |version: &str| json!({ "metadata": { "resourceVersion": version, "uid": "$uid:f" } });
    let new = with(flow("f"), of("$version:f"));
    let phase = json!({ "status": { "state": { "phase": "Running" } }, "spec": { "parallelism": 9 } });
    vec![
        step("write the status", "PUT", status, with(new.clone(), phase)).keep("s"),
        step("write from an old version", "PUT", f.clone(), new.clone()),
        step(
            "write from no version",
            "PUT",
            f.clone(),
            with(new.clone(), json!({ "metadata": { "resourceVersion": null } })),
        ),
        step(
            "write another name",
            "PUT",
            f.clone(),
            with(new, json!({ "metadata": { "name": "x" } })),
        ),
        step(
            "write another uid",
            "PUT",
            f.clone(),
            with(
                flow("f"),
                json!({ "metadata": { "uid": "other", "resourceVersion": "$version:s" } }),
            ),
        ),
        step(
            "write the same",
            "PUT",
            f.clone(),
            with(flow("f"), of("$version:s")),
        )
        .keep("s"),
        step(
            "write another spec",
            "PUT",
            f.clone(),
            with(
                with(flow("f"), of("$version:s")),
                json!({ "spec": { "parallelism": 3 } }),
            ),
        )
        .keep("t"),
        step(
            "write the status of nobody",
            "PUT",
            at(FLOWS, "/none/status"),
            with(flow("none"), json!({ "metadata": { "resourceVersion": "1" } })),
        ),
        step(
            "write the status of somebody gone",
            "PUT",
            at(FLOWS, "/none/status"),
            with(
                flow("none"),
                json!({ "metadata": { "uid": "gone", "resourceVersion": "1" } }),
            ),
        ),
        step(
            "merge an annotation",
            "PATCH",
            f.clone(),
            json!({ "metadata": { "annotations": { "x": "y" } } }),
        )
        .format(MERGE)
        .keep("u"),
        step(
            "merge nothing",
            "PATCH",
            f.clone(),
            json!({ "metadata": { "annotations": { "x": "y" } } }),
        )
        .format(MERGE)
        .keep("u"),
        step(
            "merge into an old version",
            "PATCH",
            f.clone(),
            json!({ "metadata": { "resourceVersion": "1" }, "spec": { "suspend": true } }),
        )
        .format(MERGE),
        step(
            "merge into another uid",
            "PATCH",
            f.clone(),
            json!({ "metadata": { "uid": "other" }, "spec": { "suspend": true } }),
        )
        .format(MERGE),
        step("merge into nobody", "PATCH", at(FLOWS, "/none"), json!({})).format(MERGE),
        step(
            "patch",
            "PATCH",
            f.clone(),
            json!([{ "op": "add", "path": "/metadata/annotations/z", "value": "w" }]),
        )
        .format(JSON_PATCH),
        step("patch strategically", "PATCH", f, json!({})).format(STRATEGIC),
        step(
            "write a lease from an old version",
            "PUT",
            at(LEASES, "/l"),
            json!({
                "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "metadata": { "name": "l", "resourceVersion": "1" }, "spec": { "holderIdentity": "b" },
            }),
        ),
        step(
            "write a lease",
            "PUT",
            at(LEASES, "/l"),
            json!({
                "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "metadata": { "name": "l", "resourceVersion": "$version:l" }, "spec": { "holderIdentity": "b" },
            }),
        ),
    ]
}

fn reads() -> Vec<Step> {
    let get = |title, path: String| step(title, "GET", path, Value::Null);
    vec![
        get("read", at(FLOWS, "/f")),
        get("read nobody", at(FLOWS, "/none")),
        get(
            "read an unknown kind",
            "/apis/flow.volcano.sh/v1alpha1/namespaces/$ns/nothings/x".to_owned(),
        ),
        get(
            "read an unknown group",
            "/apis/nothing.volcano.sh/v1/namespaces/$ns/x".to_owned(),
        ),
        get("list", at(FLOWS, "?labelSelector=app%3Df")),
        get("list none", at(FLOWS, "?labelSelector=app+in+%28x%29")),
        get("list a page", at(FLOWS, "?limit=1")),
        get(
            "list from the cache",
            at(
                FLOWS,
                "?resourceVersion=0&resourceVersionMatch=NotOlderThan&labelSelector=app%3Dg",
            ),
        ),
        get(
            "list one version",
            at(FLOWS, "?resourceVersion=$version:f&resourceVersionMatch=Exact"),
        ),
        get("list leases", at(LEASES, "")),
        get("list with a bad token", at(FLOWS, "?limit=1&continue=nonsense")),
        get(
            "watch",
            at(
                FLOWS,
                "?watch=true&resourceVersion=$version:f&timeoutSeconds=1&labelSelector=app%3Df",
            ),
        ),
        get(
            "watch what is there",
            at(
                FLOWS,
                "?watch=true&resourceVersion=0&timeoutSeconds=1&fieldSelector=metadata.name%3Dg",
            ),
        ),
        get(
            "watch a list",
            at(
                FLOWS,
                "?watch=true&resourceVersion=&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1&labelSelector=app%3Dg",
            ),
        ),
        get(
            "watch a list without a match",
            at(FLOWS, "?watch=true&sendInitialEvents=true"),
        ),
    ]
}

fn deletes() -> Vec<Step> {
    let j = at(JOBS, "/j");
    let delete = |title, path: String, body: Value| step(title, "DELETE", path, body);
    vec![
        delete(
            "delete another uid",
            j.clone(),
            json!({ "preconditions": { "uid": "other" } }),
        ),
        delete(
            "delete another version",
            j.clone(),
            json!({ "preconditions": { "resourceVersion": "1" } }),
        ),
        delete("delete nobody", at(JOBS, "/none"), json!({})),
        step(
            "hold",
            "PATCH",
            j.clone(),
            json!({ "metadata": { "finalizers": ["tests/hold"] } }),
        )
        .format(MERGE),
        delete(
            "delete what is held",
            j.clone(),
            json!({ "propagationPolicy": "Foreground", "preconditions": { "uid": "$uid:j" } }),
        ),
        delete(
            "delete",
            at(FLOWS, "/g"),
            json!({ "preconditions": { "uid": "$uid:g" } }),
        ),
        delete("delete again", at(FLOWS, "/g"), json!({})),
        step(
            "let go",
            "PATCH",
            j,
            json!({ "metadata": { "finalizers": null } }),
        )
        .format(MERGE),
    ]
}

/// What was kept on the way, by word.
type Kept = BTreeMap<&'static str, (String, String)>;

fn filled(text: &str, namespace: &str, kept: &Kept) -> String {
    let mut text = text.replace("$ns", namespace);
    for (word, (uid, version)) in kept {
        text = text
            .replace(&format!("$uid:{word}"), uid)
            .replace(&format!("$version:{word}"), version);
    }
    text
}

/// The code and the body of an answer, or its lines.
async fn send(client: &Client, step: &Step, namespace: &str, kept: &Kept) -> (u16, Vec<Value>) {
    let mut body = Vec::new();
    if !step.body.is_null() {
        body = filled(&step.body.to_string(), namespace, kept).into_bytes();
    }
    let request = Request::builder()
        .method(step.method)
        .uri(filled(&step.path, namespace, kept))
        .header("content-type", step.format)
        .header("accept", "application/json")
        .body(Body::from(body))
        .unwrap();
    let answer = client.send(request).await.unwrap();
    let code = answer.status().as_u16();
    let bytes = answer.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let whole = serde_json::from_str(&text);
    let lines = || {
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| line.into()))
            .collect()
    };
    (code, whole.map_or_else(|_| lines(), |whole| vec![whole]))
}

/// Without what differs from server to server: UIDs, versions, times and tokens, and who manages fields.
fn plain(value: &mut Value, namespace: &str) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| name != "managedFields");
            for (name, value) in fields.iter_mut() {
                let words = [
                    "uid",
                    "resourceVersion",
                    "creationTimestamp",
                    "deletionTimestamp",
                    "continue",
                ];
                match value {
                    Value::String(text) if words.contains(&name.as_str()) && !text.is_empty() => {
                        *text = format!("<{name}>");
                    }
                    Value::String(text) if name == "name" && text.starts_with("gen-") => {
                        *text = "gen-<suffix>".to_owned()
                    }
                    Value::String(text) => *text = numberless(text, namespace),
                    value @ (Value::Null
                    | Value::Bool(_)
                    | Value::Number(_)
                    | Value::Array(_)
                    | Value::Object(_)) => plain(value, namespace),
                }
            }
            fields.sort_keys();
        }
        Value::Array(items) => {
            items.retain(|item| item["field"] != "<nil>");
            items.iter_mut().for_each(|item| plain(item, namespace));
        }
        Value::String(text) => *text = numberless(text, namespace),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What a server adds when rules in CEL couldn't be looked at, which the service doesn't have.
const UNCHECKED: &str = "<nil>: Invalid value: null: some validation rules were not checked because the object was \
                         invalid; correct the existing errors to complete validation";

/// A text without UIDs and numbers, and without what depends on how a token was made.
fn numberless(text: &str, namespace: &str) -> String {
    let mut text = text.to_owned();
    if let Some((one, _)) = text.split_once(&format!(", {UNCHECKED}]")) {
        text = one.replacen('[', "", 1);
    }
    if let Some(end) = text.find("continue key is not valid") {
        text.truncate(end);
    }
    let text = text.replace(namespace, "<namespace>");
    let words = text.split_inclusive(|letter: char| !letter.is_ascii_hexdigit() && letter != '-');
    let word = |word: &str| {
        let body = word.trim_end_matches(|letter: char| !letter.is_ascii_hexdigit() && letter != '-');
        let rest = &word[body.len()..];
        let is_uid = body.len() == 36 && body.matches('-').count() == 4;
        let is_number = !body.is_empty() && body.chars().all(|letter| letter.is_ascii_digit());
        if is_uid || is_number {
            format!("#{rest}")
        } else {
            word.to_owned()
        }
    };
    words.map(word).collect()
}

async fn answers(client: &Client, namespace: &str) -> Vec<String> {
    let (mut kept, mut answers) = (Kept::new(), Vec::new());
    for step in creates()
        .into_iter()
        .chain(writes())
        .chain(reads())
        .chain(deletes())
    {
        let (code, mut bodies) = send(client, &step, namespace, &kept).await;
        let meta = |field: &str| {
            bodies[0]["metadata"][field]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let mut note = String::new();
        if !step.keep.is_empty() {
            let now = (meta("uid"), meta("resourceVersion"));
            let same = kept.get(step.keep).is_some_and(|before| *before == now);
            note = if same {
                " (no new version)".to_owned()
            } else {
                String::new()
            };
            kept.insert(step.keep, now);
        }
        bodies.iter_mut().for_each(|body| plain(body, namespace));
        let bodies: Vec<String> = bodies.iter().map(Value::to_string).collect();
        answers.push(format!("{}: {code}{note} {}", step.title, bodies.join("\n    ")));
    }
    answers
}

#[tokio::test]
async fn the_service_answers_as_a_real_api_server_does() {
    let cluster = ControlPlane::shared().unwrap_or_else(|fault| panic!("{fault}"));
    let namespace = cluster.namespace("fidelity").await.unwrap();
    let real = answers(&cluster.client(User::Admin).await.unwrap(), &namespace).await;
    let service = Service::new();
    service.act(|state| state.put_namespace(&namespace));
    let ours = answers(&service.client("test"), &namespace).await;
    let pairs = real.iter().zip(&ours).filter(|(real, ours)| real != ours);
    let wrong: Vec<String> = pairs
        .map(|(real, ours)| format!("real {real}\nours {ours}"))
        .collect();
    println!("{} requests were answered alike", real.len() - wrong.len());
    assert!(
        wrong.is_empty(),
        "{} of {} differ\n{}",
        wrong.len(),
        real.len(),
        wrong.join("\n\n")
    );
}
