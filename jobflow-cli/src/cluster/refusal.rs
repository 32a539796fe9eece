//! Why a server did not do what was asked, in words: what, why, and what to do about it.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use kube::core::Status;

use crate::exit::Exit;
use crate::failure::Failure;

/// The failure of a call; `intent` completes "cannot …".
pub(crate) fn refusal(intent: &str, error: &kube::Error) -> Failure {
    if let kube::Error::Api(status) = error {
        return refused(intent, status);
    }
    if let kube::Error::SerdeError(error) = error {
        return unreadable(intent, error);
    }
    unreachable(intent, error)
}

/// The failure of a watch.
pub(crate) fn of_watch(intent: &str, error: &kube::runtime::watcher::Error) -> Failure {
    use kube::runtime::watcher::Error;
    match error {
        Error::InitialListFailed(error) | Error::WatchStartFailed(error) | Error::WatchFailed(error) => {
            refusal(intent, error)
        }
        Error::WatchError(status) => refused(intent, status),
        Error::NoResourceVersion => Failure::could_not_run(format!("cannot {intent}")).because(error),
    }
}

/// Whether trying again may help: the connection broke, or the server has too much to do.
pub(crate) fn is_passing(error: &kube::runtime::watcher::Error) -> bool {
    use kube::runtime::watcher::Error;
    match error {
        Error::InitialListFailed(error) | Error::WatchStartFailed(error) | Error::WatchFailed(error) => {
            status_of(error).is_none_or(is_passing_status)
        }
        Error::WatchError(status) => is_passing_status(status),
        Error::NoResourceVersion => false,
    }
}

/// What the server answered, if it did.
fn status_of(error: &kube::Error) -> Option<&Status> {
    let kube::Error::Api(status) = error else {
        return None;
    };
    Some(status)
}

fn is_passing_status(status: &Status) -> bool {
    matches!(status.code, 408 | 410 | 429) || status.code >= 500
}

/// Whether a kind isn't served, as the server says it: a path that is nowhere, not an object that isn't there.
pub(crate) fn is_unserved(status: &Status) -> bool {
    status.code == 404
        && status
            .details
            .as_ref()
            .is_none_or(|details| details.name.is_empty())
}

/// No answer in time.
pub(super) fn late(intent: &str, server: &str, patience: Duration) -> Failure {
    let seconds = patience.as_secs_f32();
    Failure::could_not_run(format!("cannot {intent}"))
        .caused_by(format!("{server} did not answer within {seconds} s"))
        .with_help("wait longer with --request-timeout")
}

/// A flow that isn't there.
pub(crate) fn gone(flow: &str, namespace: &str) -> Failure {
    Failure::with_exit(
        Exit::Gone,
        format!("there is no flow `{flow}` in namespace `{namespace}`"),
    )
}

fn refused(intent: &str, status: &Status) -> Failure {
    let failure = Failure::could_not_run(format!("cannot {intent}"));
    let said = said(status);
    match status.code {
        401 => failure
            .caused_by("the server does not accept these credentials (401)")
            .with_help("log in anew, or choose another context with --context"),
        403 => failure.caused_by(said).with_help(
            "ask for that right, or name another namespace with -n or another context with --context",
        ),
        404 if is_unserved(status) => failure
            .caused_by("the server does not know this kind (404)")
            .with_help("install the definitions with: kubectl jobflow crd --install"),
        404 => Failure::with_exit(Exit::Gone, format!("cannot {intent}")).caused_by(said),
        409 => failure.caused_by(said),
        429 => failure
            .caused_by(said)
            .with_help("the server has too much to do; try again later"),
        _ => failure.caused_by(said),
    }
}

/// What the server said, or at least its number.
pub(crate) fn said(status: &Status) -> String {
    match status.message.trim() {
        "" => format!("the server answered {} {}", status.code, status.reason),
        message => message.to_owned(),
    }
}

fn unreadable(intent: &str, error: &serde_json::Error) -> Failure {
    Failure::could_not_run(format!("cannot {intent}"))
        .caused_by(format!("the answer can't be read: {error}"))
        .with_help("is this address that of a Kubernetes API server?")
}

fn unreachable(intent: &str, error: &kube::Error) -> Failure {
    let causes = causes(error);
    let last = causes.last().map_or("", String::as_str).to_ascii_lowercase();
    let failure = causes.iter().fold(
        Failure::could_not_run(format!("cannot {intent}")),
        |failure, cause| failure.caused_by(cause.clone()),
    );
    match help(error, &last) {
        Some(help) => failure.with_help(help),
        None => failure,
    }
}

/// What led to an error, each once: wrappers repeat what they wrap.
fn causes(error: &kube::Error) -> Vec<String> {
    let mut causes: Vec<String> = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        if !causes.iter().any(|known| known.contains(&text)) {
            causes.retain(|known| !text.contains(known.as_str()));
            causes.push(text);
        }
        next = cause.source();
    }
    if causes.is_empty() {
        causes.push(error.to_string());
    }
    causes
}

fn help(error: &kube::Error, last: &str) -> Option<&'static str> {
    if last.contains("certificate") {
        return Some(
            "the certificate is not one that this kubeconfig trusts: look at its certificate-authority and server",
        );
    }
    if matches!(error, kube::Error::Auth(_)) {
        return Some("the credentials of this context can't be had: log in anew");
    }
    let is_network = io_kind(error).is_some() || last.contains("dns") || last.contains("lookup");
    is_network
        .then_some("is the cluster there, and is this the right context? See: kubectl config get-contexts")
}

fn io_kind(error: &kube::Error) -> Option<io::ErrorKind> {
    let mut next = error.source();
    while let Some(cause) = next {
        if let Some(error) = cause.downcast_ref::<io::Error>() {
            return Some(error.kind());
        }
        next = cause.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use kube::core::response::StatusDetails;

    use super::*;

    fn said_of(code: u16, details: Option<&str>) -> (Exit, String, Option<String>) {
        let status = Status {
            code,
            message: "it is so".to_owned(),
            details: details.map(|name| StatusDetails {
                name: name.to_owned(),
                group: String::new(),
                kind: String::new(),
                uid: String::new(),
                causes: Vec::new(),
                retry_after_seconds: 0,
            }),
            ..Status::failure("", "")
        };
        match refusal("list flows", &kube::Error::Api(Box::new(status))) {
            Failure::Said(said) => (said.exit, said.causes.join("; "), said.help),
            Failure::Closed | Failure::Told(_) => panic!("nothing was said"),
        }
    }

    #[test]
    fn a_kind_that_is_not_served_differs_from_an_object_that_is_not_there() {
        let (exit, cause, help) = said_of(404, None);
        assert_eq!(
            (exit, cause.as_str()),
            (Exit::CouldNotRun, "the server does not know this kind (404)")
        );
        assert!(help.unwrap().contains("crd --install"));
        assert_eq!(
            said_of(404, Some("nightly")),
            (Exit::Gone, "it is so".to_owned(), None)
        );
    }

    #[test]
    fn what_is_forbidden_is_told_as_the_server_says_it() {
        let (exit, cause, help) = said_of(403, None);
        assert_eq!((exit, cause.as_str()), (Exit::CouldNotRun, "it is so"));
        assert!(help.is_some());
    }
}
