//! The flow as it was last known: from a live read, from an answer to a write, or from the store, whichever is newest.

use std::sync::Arc;

use crate::client::request::Written;
use crate::status::{BIRTH_MARK, base_size};
use crate::types::{JobFlow, JobFlowStatus};

/// The flow with its status, of which only this driver holds a copy.
#[derive(Clone, Debug)]
pub(super) struct Base {
    pub(super) object: Arc<JobFlow>,
    /// How many bytes of it are not its status.
    pub(super) size: usize,
}

impl Base {
    pub(super) fn of(object: Arc<JobFlow>) -> Self {
        let size = base_size(&object);
        Self { object, size }
    }

    pub(super) fn version(&self) -> &str {
        self.object
            .metadata
            .resource_version
            .as_deref()
            .unwrap_or_default()
    }

    pub(super) fn generation(&self) -> i64 {
        self.object.metadata.generation.unwrap_or(0)
    }

    pub(super) fn status(&self) -> Option<&JobFlowStatus> {
        self.object.status.as_ref()
    }

    pub(super) fn is_deleting(&self) -> bool {
        self.object.metadata.deletion_timestamp.is_some()
    }

    /// Whether the flow bears its mark. The mark says which flow was started, so that a copied one doesn't count.
    pub(super) fn is_marked(&self) -> bool {
        let annotations = self.object.metadata.annotations.as_ref();
        let mark = annotations.and_then(|annotations| annotations.get(BIRTH_MARK));
        mark.is_some() && mark == self.object.metadata.uid.as_ref()
    }

    /// Whether an object is newer than this one.
    pub(super) fn is_older_than(&self, object: &JobFlow) -> bool {
        let version = object.metadata.resource_version.as_deref().unwrap_or_default();
        is_newer(version, self.version())
    }

    /// The status was written.
    pub(super) fn written(&mut self, written: Written) {
        let object = Arc::make_mut(&mut self.object);
        object.metadata.resource_version = Some(written.version);
        object.status = Some(written.status);
    }
}

/// Whether version `one` of an object is newer than `other`. Versions are numbers that grow; one that isn't is taken
/// for newer when it differs, since nothing is known against it.
pub(super) fn is_newer(one: &str, other: &str) -> bool {
    match (one.parse::<u64>(), other.parse::<u64>()) {
        (Ok(one), Ok(other)) => one > other,
        (Ok(_) | Err(_), _) => one != other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::JobFlowSpec;

    #[test]
    fn a_copy_of_a_started_flow_is_not_marked() {
        let mut object = JobFlow::new("f", JobFlowSpec::default());
        object.metadata.uid = Some("u".to_owned());
        object.metadata.annotations = Some([(BIRTH_MARK.to_owned(), "u".to_owned())].into());
        assert!(Base::of(Arc::new(object.clone())).is_marked());
        object.metadata.uid = Some("other".to_owned());
        assert!(!Base::of(Arc::new(object)).is_marked());
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(is_newer("10", "9") && !is_newer("9", "10") && !is_newer("9", "9"));
        assert!(is_newer("b", "a") && !is_newer("a", "a"));
    }
}
