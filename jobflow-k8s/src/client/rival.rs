//! Who else writes the status of flows.
//!
//! Comes in: the metadata of a flow as it was watched. Goes out: a name. Only writers of the status subresource count, by
//! the order of the server's own clock, and only on a flow that was started here: what Volcano's controller wrote before
//! a take-over is no trace of a rival. Whoever may write a flow can forge this, so nothing is decided by it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta};

use super::call::MANAGER;
use crate::status::BIRTH_MARK;

/// Whoever wrote the status of a started flow last, if it wasn't this program.
pub(super) fn rival(flow: &ObjectMeta) -> Option<&str> {
    let mark = flow
        .annotations
        .as_ref()
        .and_then(|annotations| annotations.get(BIRTH_MARK))?;
    let fields = flow.managed_fields.iter().flatten();
    let last = fields
        .filter(|entry| is_of_status(entry))
        .max_by_key(|entry| entry.time.as_ref().map(|time| time.0))?;
    let manager = last.manager.as_deref()?;
    (Some(mark) == flow.uid.as_ref() && manager != MANAGER).then_some(manager)
}

fn is_of_status(entry: &ManagedFieldsEntry) -> bool {
    entry.subresource.as_deref() == Some("status")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn found(mark: &str, fields: &Value) -> Option<String> {
        let meta = json!({"uid": "u1", "annotations": {(BIRTH_MARK): mark}, "managedFields": fields});
        let meta: ObjectMeta = serde_json::from_value(meta).unwrap();
        rival(&meta).map(str::to_owned)
    }

    fn wrote(manager: &str, minute: u32, subresource: &str) -> Value {
        let time = format!("2026-01-01T00:{minute:02}:00Z");
        json!({"manager": manager, "operation": "Update", "time": time, "subresource": subresource})
    }

    #[test]
    fn whoever_wrote_the_status_of_a_started_flow_last_is_a_rival_unless_it_is_us() {
        let (ours, theirs) = (
            wrote(MANAGER, 5, "status"),
            wrote("vc-controller-manager", 6, "status"),
        );
        let vc = Some("vc-controller-manager".to_owned());
        assert_eq!(found("u1", &json!([ours, theirs])), vc);
        assert_eq!(found("u1", &json!([theirs])), vc);
        assert_eq!(found("another's", &json!([ours, theirs])), None);
        assert_eq!(
            found("u1", &json!([wrote("vc-controller-manager", 4, "status"), ours])),
            None
        );
        assert_eq!(found("u1", &json!([ours, wrote("kubectl-edit", 7, "")])), None);
        assert_eq!(found("u1", &json!([])), None);
    }
}
