//! What a flow asks of the world, and what the world answers. Values only: sending is `call`'s, judging the flow's.

use std::sync::Arc;

use jobflow_core::facts::FactKey;
use jobflow_core::{JobKey, Span, Uid};
use kube::core::Status;

use crate::observe::{SlimJob, SlimPod, SlimTemplate, refusal};
use crate::types::{JobFlow, JobFlowStatus};

/// Joins an answer to its request; counted by each flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// Something to ask of the API server, or of a source of facts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Request {
    /// Read the flow, by quorum.
    ReadFlow,
    /// Write the status, on condition that nothing has changed since it was read.
    WriteStatus {
        /// The object to send, without its spec.
        body: Arc<[u8]>,
    },
    /// Set the annotation that tells that the flow was started.
    MarkBirth {
        /// A merge patch that is conditional on the flow's UID.
        body: Arc<[u8]>,
    },
    /// Create a Job.
    CreateJob {
        /// Which.
        key: JobKey,
        /// Its name.
        name: String,
        /// The object.
        body: Arc<[u8]>,
    },
    /// Read a Job, by quorum.
    ReadJob {
        /// Which it should be.
        key: JobKey,
        /// Its name.
        name: String,
    },
    /// Read all Jobs that carry this label, by quorum.
    ListJobs {
        /// The label's selector.
        selector: String,
    },
    /// Read the pods of a Job, by quorum.
    ListPods {
        /// Which.
        key: JobKey,
        /// The Job's name.
        job: String,
    },
    /// Read another flow, to see whether it is still there.
    ReadOwner {
        /// Whose Job has the owner.
        key: JobKey,
        /// The other flow's name.
        name: String,
        /// Its UID, as the Job says.
        uid: String,
    },
    /// Create a Command that ends a Job.
    TerminateJob {
        /// Which.
        key: JobKey,
        /// The Command.
        body: Arc<[u8]>,
    },
    /// Delete a Job, pods first.
    DeleteJob {
        /// Which; none for a Job that no attempt stands for.
        key: Option<JobKey>,
        /// Its name.
        name: String,
        /// Its UID, as precondition.
        uid: Uid,
    },
    /// Delete the flow, and what it owns first, if it is still of this UID and version.
    DeleteFlow {
        /// Its UID, as precondition.
        uid: Uid,
        /// Its version, as precondition.
        version: String,
    },
    /// Read all templates that were frozen for the flow, by quorum.
    ListFrozen {
        /// The label's selector.
        selector: String,
    },
    /// Create the frozen form of a template.
    FreezeTemplate {
        /// The object.
        body: Arc<[u8]>,
    },
    /// Ask a source of facts.
    Ask(FactKey),
}

impl Request {
    /// Whether it changes something, so that it may be sent within a term only.
    #[must_use]
    pub const fn is_write(&self) -> bool {
        match self {
            Self::WriteStatus { .. }
            | Self::MarkBirth { .. }
            | Self::CreateJob { .. }
            | Self::FreezeTemplate { .. }
            | Self::TerminateJob { .. }
            | Self::DeleteJob { .. }
            | Self::DeleteFlow { .. } => true,
            Self::ReadFlow
            | Self::ReadJob { .. }
            | Self::ListJobs { .. }
            | Self::ListPods { .. }
            | Self::ListFrozen { .. }
            | Self::ReadOwner { .. }
            | Self::Ask(_) => false,
        }
    }
}

/// What came of a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Response {
    /// The whole flow, as it is now.
    Flow(Box<JobFlow>),
    /// The flow after a write of its status.
    Written(Box<Written>),
    /// A Job, as it is now.
    Job(Box<SlimJob>),
    /// Jobs, as they are now.
    Jobs(Vec<SlimJob>),
    /// Pods, as they are now.
    Pods(Vec<SlimPod>),
    /// A template, as it is now.
    Template(Box<SlimTemplate>),
    /// Templates, as they are now.
    Templates(Vec<SlimTemplate>),
    /// It was done, and the answer says nothing more.
    Done,
    /// What a source of facts said.
    Fact(Result<String, String>),
    /// The server said no.
    Refused(Box<Said>),
    /// It was sent, and no answer came that can be read: it may have been done, or be done later.
    Unanswered(String),
    /// It was not sent.
    Unsent(String),
}

impl Response {
    /// The flow, or the response if it is another.
    pub(super) fn into_flow(self) -> Result<Box<JobFlow>, Self> {
        if let Self::Flow(flow) = self {
            Ok(flow)
        } else {
            Err(self)
        }
    }

    /// The Job, or the response if it is another.
    pub(super) fn into_job(self) -> Result<Box<SlimJob>, Self> {
        if let Self::Job(job) = self {
            Ok(job)
        } else {
            Err(self)
        }
    }

    /// Pods, or the response if it is another.
    pub(super) fn into_pods(self) -> Result<Vec<SlimPod>, Self> {
        if let Self::Pods(pods) = self {
            Ok(pods)
        } else {
            Err(self)
        }
    }

    /// The template, or the response if it is another.
    pub(super) fn into_template(self) -> Result<Box<SlimTemplate>, Self> {
        if let Self::Template(template) = self {
            Ok(template)
        } else {
            Err(self)
        }
    }

    /// What was stored, or the response if it is another.
    pub(super) fn into_written(self) -> Result<Box<Written>, Self> {
        if let Self::Written(written) = self {
            Ok(written)
        } else {
            Err(self)
        }
    }

    /// The server's refusal, if it is one.
    #[must_use]
    pub fn said(&self) -> Option<&Said> {
        if let Self::Refused(said) = self {
            Some(said)
        } else {
            None
        }
    }

    /// The status of a refusal.
    #[must_use]
    pub fn refusal(&self) -> Option<u16> {
        self.said().map(|said| said.code)
    }

    /// Whether it is a refusal because an object of this name isn't there.
    #[must_use]
    pub fn is_absent(&self, name: &str) -> bool {
        self.said().is_some_and(|said| said.is_absent(name))
    }

    /// How long the server asked to be left alone.
    pub(super) fn asked_to_wait(&self) -> Option<Span> {
        let said = self.said()?;
        refusal(said.code, &said.body, said.retry_after.as_deref()).retry_after
    }
}

/// The answer to a write of a status.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// The version of the object now.
    pub version: String,
    /// The status as it was stored.
    pub status: JobFlowStatus,
}

/// An answer other than yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The status of the answer.
    pub code: u16,
    /// The body as it came.
    pub body: Vec<u8>,
    /// The header `Retry-After`.
    pub retry_after: Option<String>,
}

impl Said {
    /// Whether it says that an object of this name isn't there, rather than its kind or the whole path.
    #[must_use]
    pub fn is_absent(&self, name: &str) -> bool {
        let status: Status = serde_json::from_slice(&self.body).unwrap_or_default();
        let named = status.details.is_some_and(|details| details.name == name);
        self.code == 404 && status.reason == "NotFound" && named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(code: u16, body: &str) -> Said {
        Said {
            code,
            body: body.as_bytes().to_vec(),
            retry_after: None,
        }
    }

    #[test]
    fn a_missing_kind_is_not_a_missing_object() {
        let absent = r#"{"kind":"Status","reason":"NotFound","code":404,
            "details":{"name":"f-a","group":"batch.volcano.sh","kind":"jobs"}}"#;
        assert!(said(404, absent).is_absent("f-a"));
        assert!(!said(404, absent).is_absent("f-b"));
        assert!(!said(404, "404 page not found\n").is_absent("f-a"));
        assert!(!said(410, absent).is_absent("f-a"));
    }
}
