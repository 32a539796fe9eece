//! What an answer to a create says, when it isn't 201 and a live read found no Job: for good, or until something
//! changes.
//!
//! The kinds and their marks were taken from the answers of a real API server with Volcano's admission; they are
//! beside the tests.

use std::sync::Arc;

use jobflow_core::snapshot::RefusalClass;
use jobflow_core::time::Span;
use serde::Deserialize;

/// The longest message that is kept of an answer, in bytes.
const LONGEST_MESSAGE: usize = 1024;

/// The longest time that a server may ask to wait.
const LONGEST_WAIT: Span = Span::from_secs(3600);

/// What Volcano's validator says about queues.
const QUEUE_FAULTS: [&str; 5] = [
    "unable to find job queue",
    "can only submit job to queue with state",
    "can only submit job to leaf queue",
    "can not submit job to root queue",
    "failed to get child queues",
];

/// What an answer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The kind of refusal.
    pub class: RefusalClass,
    /// The server's words, on one line, cut to 1 KiB.
    pub message: Arc<str>,
    /// How long the server asks to be left alone.
    pub retry_after: Option<Span>,
}

/// As much of a Status as is read.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Status {
    message: Option<String>,
    details: Option<Details>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Details {
    causes: Option<Vec<StatusCause>>,
    retry_after_seconds: Option<i64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StatusCause {
    reason: Option<String>,
}

/// Classifies the answer to a create: the code, the body as it came, and the header `Retry-After`.
///
/// | answer | class |
/// | --- | --- |
/// | 422, 413; any denial by a webhook or an admission policy | `Final` |
/// | 400 of Volcano's validator that names nothing but queues | `Queue` |
/// | 403 `exceeded quota` | `Quota` |
/// | 403 with the cause `NamespaceTerminating` | `NamespaceTerminating` |
/// | any other 403 | `NotPermitted` |
/// | 408, 429, 5xx, and whatever is not known | `Passing` |
#[must_use]
pub fn refusal(code: u16, body: &[u8], retry_after: Option<&str>) -> Answer {
    let status: Option<Status> = serde_json::from_slice(body).ok();
    let text = status.as_ref().and_then(|status| status.message.clone());
    let message = text.unwrap_or_else(|| String::from_utf8_lossy(body).into_owned());
    let details = status.and_then(|status| status.details).unwrap_or_default();
    let asked = retry_after
        .and_then(|seconds| seconds.trim().parse::<u64>().ok())
        .or_else(|| {
            details
                .retry_after_seconds
                .and_then(|seconds| u64::try_from(seconds).ok())
        })
        .filter(|seconds| *seconds > 0);
    Answer {
        class: class(code, &message, &details),
        message: one_line(&message, code),
        retry_after: asked.map(|seconds| Span::from_secs(seconds).min(LONGEST_WAIT)),
    }
}

/// What is noted when no answer came: a time-out, a connection that broke.
#[must_use]
pub fn unanswered(error: &str) -> Answer {
    Answer {
        class: RefusalClass::Passing,
        message: one_line(error, 0),
        retry_after: None,
    }
}

/// Whether the answer to a write says that the object is too large to be stored.
#[must_use]
pub fn is_too_large(code: u16, message: &str) -> bool {
    code == 413
        || message.contains("etcdserver: request is too large")
        || message.contains("trying to send message larger than max")
}

fn class(code: u16, message: &str, details: &Details) -> RefusalClass {
    let terminating = details
        .causes
        .iter()
        .flatten()
        .any(|cause| cause.reason.as_deref() == Some("NamespaceTerminating"));
    match code {
        413 | 422 => RefusalClass::Final,
        400 if is_about_queues(message) => RefusalClass::Queue,
        400 | 403 if is_denial(message) => RefusalClass::Final,
        403 if terminating => RefusalClass::NamespaceTerminating,
        403 if message.contains("is forbidden: exceeded quota: ") => RefusalClass::Quota,
        403 => RefusalClass::NotPermitted,
        _ if (400..500).contains(&code) && is_denial(message) => RefusalClass::Final,
        _ => RefusalClass::Passing,
    }
}

/// The words of a webhook that denied, without what the API server puts before them.
fn denial(message: &str) -> Option<(&str, &str)> {
    let (webhook, rest) = message.strip_prefix("admission webhook \"")?.split_once('"')?;
    let words = rest.strip_prefix(" denied the request")?;
    Some((webhook, words.strip_prefix(':').unwrap_or(words)))
}

fn is_denial(message: &str) -> bool {
    let by_policy = message
        .split_once("is forbidden: ValidatingAdmissionPolicy '")
        .is_some_and(|(_, rest)| rest.contains("' denied request"));
    by_policy || denial(message).is_some()
}

/// Whether Volcano's validator names faults of the queue, and no others; it joins faults with `;`.
fn is_about_queues(message: &str) -> bool {
    let Some((webhook, words)) = denial(message) else {
        return false;
    };
    let mut faults = words
        .split(';')
        .map(str::trim)
        .filter(|fault| !fault.is_empty())
        .peekable();
    let of_queue = |fault: &str| QUEUE_FAULTS.iter().any(|known| fault.contains(known));
    webhook.ends_with(".volcano.sh") && faults.peek().is_some() && faults.all(of_queue)
}

/// Control characters become spaces, and what is too long is cut between two characters.
fn one_line(message: &str, code: u16) -> Arc<str> {
    let text: String = message
        .trim()
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.is_empty() {
        return Arc::from(format!("the server answered {code} without a word"));
    }
    Arc::from(&text[..text.floor_char_boundary(LONGEST_MESSAGE)])
}
