//! What was asked, when, and what was answered.

use std::time::Duration;

use serde_json::Value;

use super::call::{Call, Verb};
use super::kind::Kind;
use super::replace::Part;

/// One request and what came of it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// When it arrived, since the service began.
    pub at: Duration,
    /// Who sent it.
    pub who: String,
    /// What was asked for.
    pub verb: Verb,
    /// The path.
    pub path: String,
    /// Of which kind.
    pub kind: Option<&'static Kind>,
    /// In which namespace.
    pub namespace: String,
    /// Of which object.
    pub name: String,
    /// Of which part of it.
    pub part: Part,
    /// The body.
    pub body: Value,
    /// Whether it was carried out (for what only reads: looked up).
    pub carried_out: bool,
    /// The code of the answer that was sent; none if none was.
    pub code: Option<u16>,
}

impl Entry {
    pub(super) fn of(call: &Call, at: Duration) -> Self {
        Self {
            at,
            who: call.who.clone(),
            verb: call.verb,
            path: call.path.clone(),
            kind: call.kind,
            namespace: call.namespace.clone(),
            name: call.name.clone(),
            part: call.part,
            body: call.body.clone(),
            carried_out: false,
            code: None,
        }
    }

    /// Whether it is this verb on objects of this plural.
    #[must_use]
    pub fn is(&self, verb: Verb, plural: &str) -> bool {
        self.verb == verb && self.kind.is_some_and(|kind| kind.plural == plural)
    }
}
