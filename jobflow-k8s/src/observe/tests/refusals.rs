//! Every refusal that an API server with Volcano's admission gave to a create, and what each means.

use jobflow_core::snapshot::RefusalClass::{
    self, Final, NamespaceTerminating, NotPermitted, Passing, Queue, Quota,
};
use jobflow_core::time::Span;
use serde_json::{Value, json};

use crate::observe::{is_too_large, refusal, unanswered};

/// Recorded: code, `Retry-After` and body by kind of refusal.
const RECORDED: &str = include_str!("refusals.json");

fn recorded(kind: &str) -> RefusalClass {
    let all: Value = serde_json::from_str(RECORDED).unwrap();
    let answer = &all[kind];
    let text = answer["body"].as_str().map(str::to_owned);
    let body = text.unwrap_or_else(|| answer["body"].to_string());
    let code = u16::try_from(answer["code"].as_u64().unwrap()).unwrap();
    refusal(code, body.as_bytes(), answer["retryAfter"].as_str()).class
}

#[test]
fn every_recorded_answer_is_of_its_kind() {
    let table = [
        ("already_exists", Passing),
        ("schema", Final),
        ("volcano_validator_no_tasks", Final),
        ("volcano_validator_min_available", Final),
        ("volcano_validator_duplicate_task", Final),
        ("volcano_queue_missing", Queue),
        ("volcano_queue_closed", Queue),
        ("volcano_queue_and_other_fault", Final),
        ("bad_name", Final),
        ("long_label", Final),
        ("rbac", NotPermitted),
        ("quota_exceeded", Quota),
        ("quota_exceeded_own_existing_name", Quota),
        ("namespace_missing", Passing),
        ("namespace_terminating", NamespaceTerminating),
        ("admission_policy", Final),
        ("webhook_down", Passing),
        ("webhook_down_own_existing_name", Passing),
        ("too_large", Final),
        ("kind_gone", Passing),
    ];
    for (kind, expected) in table {
        assert_eq!(recorded(kind), expected, "{kind}");
    }
    let all: Value = serde_json::from_str(RECORDED).unwrap();
    let refusals = all
        .as_object()
        .unwrap()
        .values()
        .filter(|answer| answer["code"] != 201)
        .count();
    assert_eq!(refusals, table.len(), "every recorded refusal is in the table");
}

fn said(code: u16, message: &str) -> RefusalClass {
    refusal(code, json!({"message": message}).to_string().as_bytes(), None).class
}

#[test]
fn a_queue_that_takes_no_jobs_is_waited_for_in_all_five_words() {
    for words in [
        "unable to find job queue: queue.scheduling.volcano.sh \"q\" not found",
        "can only submit job to queue with state `Open`, queue `q` status is `Closing`",
        "can only submit job to leaf queue, queue `q` has 2 child queues",
        "can not submit job to root queue",
        "failed to get child queues of queue q: timeout",
    ] {
        let denied =
            |words: &str| format!("admission webhook \"validatejob.volcano.sh\" denied the request: {words}");
        assert_eq!(said(400, &denied(&format!("{words};"))), Queue, "{words}");
        assert_eq!(
            said(400, &denied(&format!("{words}; {words};"))),
            Queue,
            "{words}"
        );
        assert_eq!(
            said(400, &denied(&format!("duplicated task name main; {words};"))),
            Final,
            "{words}"
        );
        let theirs = format!("admission webhook \"strict.example.com\" denied the request: {words};");
        assert_eq!(
            said(400, &theirs),
            Final,
            "only Volcano's validator speaks of queues"
        );
    }
}

#[test]
fn a_denial_is_final_whatever_its_code_and_words() {
    for code in [400, 403, 409, 422] {
        for message in [
            "admission webhook \"gate.example.com\" denied the request: exceeded quota: of patience",
            "admission webhook \"gate.example.com\" denied the request without explanation",
            "jobs.batch.volcano.sh \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
        ] {
            assert_eq!(said(code, message), Final, "{code} {message}");
        }
    }
}

#[test]
fn what_passes_or_is_not_known_is_waited_for() {
    for code in [
        0, 400, 401, 404, 405, 408, 409, 410, 415, 429, 499, 500, 502, 503, 504, 599, 999,
    ] {
        assert_eq!(said(code, "no"), Passing, "{code}");
    }
    assert_eq!(said(403, "no"), NotPermitted);
    assert_eq!(said(500, "admission webhook \"x\" denied the request"), Passing);
    assert_eq!(unanswered("connection reset").class, Passing);
}

#[test]
fn a_wish_to_be_left_alone_is_heard_from_header_and_body() {
    let after = |header, body: Value| refusal(429, body.to_string().as_bytes(), header).retry_after;
    assert_eq!(after(Some("7"), json!({})), Some(Span::from_secs(7)));
    assert_eq!(
        after(None, json!({"details": {"retryAfterSeconds": 9}})),
        Some(Span::from_secs(9))
    );
    assert_eq!(
        after(Some("7"), json!({"details": {"retryAfterSeconds": 9}})),
        Some(Span::from_secs(7))
    );
    assert_eq!(after(Some("99999999999999999999"), json!({})), None);
    assert_eq!(after(Some("999999999"), json!({})), Some(Span::from_secs(3600)));
    assert_eq!(after(Some("Wed, 21 Oct 2026 07:28:00 GMT"), json!({})), None);
    assert_eq!(
        after(Some("0"), json!({"details": {"retryAfterSeconds": -1}})),
        None
    );
}

#[test]
fn the_servers_words_are_kept_on_one_line_and_cut() {
    let message = |body: &[u8]| refusal(500, body, None).message;
    assert_eq!(&*message(b"404 page not found\n"), "404 page not found");
    assert_eq!(&*message(b"\x1b[31mred\r\nalert"), " [31mred  alert");
    assert_eq!(&*message(b""), "the server answered 500 without a word");
    assert_eq!(message("ü".repeat(4_000).as_bytes()).len(), 1024);
    assert_eq!(&*message(&[0xff, 0xfe]), "\u{fffd}\u{fffd}");
    assert_eq!(&*message(br#"{"message": 5}"#), r#"{"message": 5}"#);
}

#[test]
fn an_object_that_is_too_large_is_told_in_three_ways() {
    assert!(is_too_large(413, ""));
    assert!(is_too_large(500, "etcdserver: request is too large"));
    assert!(is_too_large(
        500,
        "rpc error: trying to send message larger than max (2148086 vs. 2097152)"
    ));
    assert!(!is_too_large(500, "etcdserver: request timed out"));
}
