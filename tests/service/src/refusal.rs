//! Answers that say no, in the words of a Kubernetes 1.36 API server.
//!
//! Where each comes from: the constructors beside their Go counterparts of `apimachinery/pkg/api/errors`, and
//! a recording beside `jobflow_k8s::observe`, from a server with Volcano's admission.

use serde_json::{Value, json};

use super::kind::Kind;

/// An answer that says no.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The status code.
    pub code: u16,
    /// The header `Retry-After`, in seconds.
    pub retry_after: Option<u32>,
    /// A `Status`, or a text.
    pub body: Value,
}

const RECORDED: &str = include_str!("../../../jobflow-k8s/src/observe/tests/refusals.json");

impl Refusal {
    /// A `Status` with these parts.
    #[must_use]
    pub fn of(code: u16, reason: &str, message: impl Into<String>, details: Value) -> Self {
        let message: String = message.into();
        let mut body = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": message, "reason": reason,
        });
        if !details.is_null() {
            body["details"] = details;
        }
        body["code"] = code.into();
        Self {
            code,
            retry_after: None,
            body,
        }
    }

    /// There is no such object.
    #[must_use]
    pub fn not_found(kind: &Kind, name: &str) -> Self {
        let message = format!("{} \"{name}\" not found", kind.resource());
        Self::of(404, "NotFound", message, about(kind, name))
    }

    /// There is no such path.
    #[must_use]
    pub fn no_such_path() -> Self {
        Self {
            code: 404,
            retry_after: None,
            body: "404 page not found\n".into(),
        }
    }

    /// The name is taken.
    #[must_use]
    pub fn already_exists(kind: &Kind, name: &str) -> Self {
        let message = format!("{} \"{name}\" already exists", kind.resource());
        Self::of(409, "AlreadyExists", message, about(kind, name))
    }

    /// The object isn't as the request takes it to be.
    #[must_use]
    pub fn conflict(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} \"{name}\": {why}",
            kind.resource()
        );
        Self::of(409, "Conflict", message, about(kind, name))
    }

    /// The precondition of a delete doesn't hold; the server names the kind where else it names the resource.
    #[must_use]
    pub fn precondition(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} \"{name}\": {why}",
            kind.qualified()
        );
        Self::of(409, "Conflict", message, of_kind(kind, name))
    }

    /// The version in the request isn't the latest.
    #[must_use]
    pub fn stale(kind: &Kind, name: &str) -> Self {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(kind, name, why)
    }

    /// The object is wrong: field by field, with the reason and what is wrong.
    #[must_use]
    pub fn invalid(kind: &Kind, name: &str, causes: &[(&'static str, String, String)]) -> Self {
        let one = |(_, field, message): &(&str, String, String)| format!("{field}: {message}");
        let mut all: Vec<String> = causes.iter().map(one).collect();
        all.dedup();
        let joined = match all.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let message = format!("{} \"{name}\" is invalid: {joined}", kind.qualified());
        let causes: Vec<Value> = causes
            .iter()
            .map(|(reason, field, message)| json!({ "reason": reason, "message": message, "field": field }))
            .collect();
        let mut details = of_kind(kind, name);
        details["causes"] = causes.into();
        Self::of(422, "Invalid", message, details)
    }

    /// A write must say which version it was made from; the server names the resource where else it names the kind.
    #[must_use]
    pub fn unconditional(kind: &Kind, name: &str) -> Self {
        let (field, why) = (
            "metadata.resourceVersion",
            "Invalid value: 0: must be specified for an update",
        );
        let message = format!("{} \"{name}\" is invalid: {field}: {why}", kind.resource());
        let mut details = about(kind, name);
        details["causes"] = json!([{ "reason": "FieldValueInvalid", "message": why, "field": field }]);
        Self::of(422, "Invalid", message, details)
    }

    /// A list can be streamed only with a match of versions.
    #[must_use]
    pub fn unmatched_stream() -> Self {
        let (field, why) = (
            "resourceVersionMatch",
            "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        );
        let message = format!("ListOptions.meta.k8s.io \"\" is invalid: {field}: {why}");
        let causes = json!([{ "reason": "FieldValueForbidden", "message": why, "field": field }]);
        let details = json!({ "group": "meta.k8s.io", "kind": "ListOptions", "causes": causes });
        Self::of(422, "Invalid", message, details)
    }

    /// The request makes no sense.
    #[must_use]
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::of(400, "BadRequest", message, Value::Null)
    }

    /// The verb is not for this path.
    #[must_use]
    pub fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::of(405, "MethodNotAllowed", message, json!({}))
    }

    /// The format of a patch is not taken.
    #[must_use]
    pub fn unsupported_patch() -> Self {
        let message = "the body of the request was in an unknown format - accepted media types include: \
                       application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
        Self::of(415, "UnsupportedMediaType", message, Value::Null)
    }

    /// The version is no longer kept.
    #[must_use]
    pub fn expired(message: impl Into<String>) -> Self {
        Self::of(410, "Expired", message, Value::Null)
    }

    /// The version doesn't exist yet.
    #[must_use]
    pub fn too_large_version(wanted: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {wanted}, current: {current}");
        let details = json!({
            "causes": [{ "reason": "ResourceVersionTooLarge", "message": "Too large resource version" }],
            "retryAfterSeconds": 1,
        });
        Self {
            retry_after: Some(1),
            ..Self::of(504, "Timeout", message, details)
        }
    }

    /// The server is asked too often.
    #[must_use]
    pub fn too_many(retry_after: u32) -> Self {
        let message = "the server has received too many requests and has asked us to try again later";
        let details = json!({ "retryAfterSeconds": retry_after });
        Self {
            retry_after: Some(retry_after),
            ..Self::of(429, "TooManyRequests", message, details)
        }
    }

    /// Something broke in the server.
    #[must_use]
    pub fn internal(message: &str) -> Self {
        let details = json!({ "causes": [{ "message": message }] });
        let text = format!("Internal error occurred: {message}");
        Self::of(500, "InternalError", text, details)
    }

    /// The server is not there for the moment.
    #[must_use]
    pub fn unavailable() -> Self {
        let message = "apiserver is shutting down";
        Self {
            retry_after: Some(1),
            ..Self::of(503, "ServiceUnavailable", message, Value::Null)
        }
    }

    /// The server gave up; what was asked for may be done nonetheless.
    #[must_use]
    pub fn timeout() -> Self {
        let message =
            "Timeout: request did not complete within requested timeout - context deadline exceeded";
        Self::of(504, "Timeout", message, json!({}))
    }

    /// The quota doesn't allow one more.
    #[must_use]
    pub fn quota(kind: &Kind, name: &str, used: usize, most: usize) -> Self {
        let resource = kind.resource();
        let message = format!(
            "{resource} \"{name}\" is forbidden: exceeded quota: q, requested: count/{resource}=1, used: \
             count/{resource}={used}, limited: count/{resource}={most}"
        );
        Self::of(403, "Forbidden", message, about(kind, name))
    }

    /// The namespace is being deleted.
    #[must_use]
    pub fn terminating(kind: &Kind, name: &str, namespace: &str) -> Self {
        let message = format!(
            "{} \"{name}\" is forbidden: unable to create new content in namespace {namespace} because it is being \
             terminated",
            kind.resource()
        );
        let mut details = about(kind, name);
        details["causes"] = json!([{
            "reason": "NamespaceTerminating",
            "message": format!("namespace {namespace} is being terminated"),
            "field": "metadata.namespace",
        }]);
        Self::of(403, "Forbidden", message, details)
    }

    /// There is no such namespace.
    #[must_use]
    pub fn no_namespace(namespace: &str) -> Self {
        let message = format!("namespaces \"{namespace}\" not found");
        let details = json!({ "name": namespace, "kind": "namespaces" });
        Self::of(404, "NotFound", message, details)
    }

    /// The body is larger than the server reads.
    #[must_use]
    pub fn too_large() -> Self {
        Self::recorded("too_large", "")
    }

    /// An answer that was recorded, about an object of this name.
    ///
    /// # Panics
    ///
    /// If none was recorded under that word.
    #[must_use]
    pub fn recorded(word: &str, name: &str) -> Self {
        let all: Value = serde_json::from_str(RECORDED).expect("the recording is JSON");
        let one = &all[word];
        let code = one["code"].as_u64().and_then(|code| u16::try_from(code).ok());
        let retry_after = one["retryAfter"]
            .as_u64()
            .and_then(|after| u32::try_from(after).ok());
        Self {
            code: code.expect("the word was recorded"),
            retry_after,
            body: renamed(one["body"].clone(), name),
        }
    }
}

/// Which object, as `details` say it with the resource.
fn about(kind: &Kind, name: &str) -> Value {
    described(kind.group, kind.plural, name)
}

/// Which object, as `details` say it with the kind.
fn of_kind(kind: &Kind, name: &str) -> Value {
    described(kind.group, kind.kind, name)
}

/// What is empty isn't said.
fn described(group: &str, kind: &str, name: &str) -> Value {
    let mut details = json!({});
    for (field, text) in [("name", name), ("group", group), ("kind", kind)] {
        if !text.is_empty() {
            details[field] = text.into();
        }
    }
    details
}

/// A recorded body as it would be about another object.
fn renamed(mut body: Value, name: &str) -> Value {
    let recorded = body["details"]["name"].as_str().map(str::to_owned);
    let Some(recorded) = recorded.filter(|_| !name.is_empty()) else {
        return body;
    };
    let message = body["message"].as_str().unwrap_or_default();
    body["message"] = message
        .replace(&format!("\"{recorded}\""), &format!("\"{name}\""))
        .into();
    body["details"]["name"] = name.into();
    body
}

#[cfg(test)]
mod tests {
    use super::super::kind::kind;
    use super::*;

    #[test]
    fn what_is_composed_says_what_was_recorded() {
        let jobs = kind("jobs");
        let composed = [
            ("already_exists", Refusal::already_exists(jobs, "r-ok")),
            ("quota_exceeded", Refusal::quota(jobs, "r-2", 1, 1)),
            ("namespace_missing", Refusal::no_namespace("nons")),
            (
                "namespace_terminating",
                Refusal::terminating(jobs, "r-1", "dying"),
            ),
            ("kind_gone", Refusal::no_such_path()),
        ];
        for (word, refusal) in composed {
            assert_eq!(refusal, Refusal::recorded(word, ""), "{word}");
        }
    }

    #[test]
    fn a_recorded_refusal_is_about_the_object_at_hand() {
        let refusal = Refusal::recorded("quota_exceeded", "mine");
        assert_eq!(refusal.body["details"]["name"], "mine");
        assert!(
            refusal.body["message"]
                .as_str()
                .unwrap()
                .starts_with("jobs.batch.volcano.sh \"mine\" is")
        );
    }
}
