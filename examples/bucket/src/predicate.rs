//! The pure half: arguments in, questions and verdicts out.

use std::sync::Arc;

use jobflow_core::condition::{Predicate, PredicateFactory, TargetView};
use jobflow_core::facts::{Answer, FactKey};
use jobflow_core::{FactCache, Time, Verdict};
use serde::{Deserialize, Serialize};

use crate::KIND;

/// Makes predicates of the kind `ObjectExists`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObjectExists;

/// What stands in `args`, and what is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Object {
    pub(crate) bucket: String,
    pub(crate) object: String,
}

#[derive(Debug)]
struct Exists {
    question: Arc<str>,
}

impl Object {
    /// A name that can't lead out of its bucket.
    fn is_plain(name: &str) -> bool {
        !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\0'])
    }
}

impl PredicateFactory for ObjectExists {
    fn kind(&self) -> &str {
        KIND
    }

    fn build(&self, arguments: &str) -> Result<Arc<dyn Predicate>, String> {
        let object: Object = serde_json::from_str(arguments).map_err(|error| error.to_string())?;
        for name in [&object.bucket, &object.object] {
            if !Object::is_plain(name) {
                return Err(format!("`{name}` is no name of a bucket or an object"));
            }
        }
        let question = serde_json::to_string(&object).map_err(|error| error.to_string())?;
        Ok(Arc::new(Exists {
            question: question.into(),
        }))
    }
}

impl Exists {
    fn key(&self) -> FactKey {
        FactKey::Custom {
            kind: KIND.into(),
            question: Arc::clone(&self.question),
        }
    }
}

impl Predicate for Exists {
    fn kind(&self) -> &str {
        KIND
    }

    fn arguments(&self) -> &str {
        &self.question
    }

    fn wants(&self, _target: TargetView<'_>) -> Vec<FactKey> {
        vec![self.key()]
    }

    fn evaluate(&self, _target: TargetView<'_>, facts: &FactCache, _now: Time) -> Verdict {
        let there = Answer::Custom("there".into());
        match facts.find(&self.key()) {
            Some(fact) if fact.answer == there => Verdict::Satisfied,
            Some(_) | None => Verdict::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_lead_out_of_the_bucket_are_refused() {
        let built = |arguments: &str| ObjectExists.build(arguments).is_ok();
        assert!(built(r#"{"bucket": "results", "object": "model.bin"}"#));
        for wrong in [
            "{}",
            r#"{"bucket": "results"}"#,
            r#"{"bucket": "results", "object": "../secret"}"#,
            r#"{"bucket": "..", "object": "a"}"#,
            r#"{"bucket": "results", "object": "a", "more": 1}"#,
        ] {
            assert!(!built(wrong), "{wrong}");
        }
    }
}
