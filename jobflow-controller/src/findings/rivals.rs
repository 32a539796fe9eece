//! Traces of another controller on a flow: who wrote its status last.
//!
//! Comes in: the metadata of a flow. Goes out: the name of whoever else writes. Only writers of the status subresource
//! count, in the order of the server's own clock, and only on a flow that this controller has begun: what Volcano's
//! wrote before a take-over is no trace. Deliberately absent: readiness. Whoever may write a flow can forge a trace.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta};

/// The annotation that says that jobflow has begun a flow.
const BEGUN: &str = "flow.volcano.sh/started";

/// Who else wrote the status of a flow after it was begun; `ours` is what we are called there.
#[must_use]
pub fn rival<'a>(flow: &'a ObjectMeta, ours: &str) -> Option<&'a str> {
    let annotations = flow.annotations.as_ref()?;
    let begun = annotations.get(BEGUN).is_some() && annotations.get(BEGUN) == flow.uid.as_ref();
    let last = flow
        .managed_fields
        .iter()
        .flatten()
        .filter(|entry| is_of_status(entry));
    let last = last.max_by_key(|entry| entry.time.as_ref().map(|time| time.0))?;
    last.manager
        .as_deref()
        .filter(|manager| begun && *manager != ours)
}

fn is_of_status(entry: &ManagedFieldsEntry) -> bool {
    entry.subresource.as_deref() == Some("status")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn found(begun: bool, fields: &Value) -> Option<String> {
        let annotations = match begun {
            true => json!({"flow.volcano.sh/started": "u1"}),
            false => json!({}),
        };
        let meta = json!({"uid": "u1", "annotations": annotations, "managedFields": fields});
        let meta: ObjectMeta = serde_json::from_value(meta).unwrap();
        rival(&meta, "jobflow-controller").map(str::to_owned)
    }

    fn wrote(manager: &str, minute: u32, subresource: &str) -> Value {
        json!({"manager": manager, "operation": "Update", "time": format!("2026-01-01T00:{minute:02}:00Z"), "subresource": subresource})
    }

    #[test]
    fn whoever_wrote_the_status_of_a_begun_flow_last_is_a_rival_unless_it_is_us() {
        let (ours, theirs) = (
            wrote("jobflow-controller", 5, "status"),
            wrote("vc-controller-manager", 6, "status"),
        );
        assert_eq!(
            found(true, &json!([ours, theirs])).as_deref(),
            Some("vc-controller-manager")
        );
        assert_eq!(
            found(true, &json!([theirs])).as_deref(),
            Some("vc-controller-manager")
        );
        assert_eq!(found(false, &json!([ours, theirs])), None);
        let before = wrote("vc-controller-manager", 4, "status");
        assert_eq!(found(true, &json!([before, ours])), None);
        assert_eq!(found(true, &json!([ours, wrote("kubectl-edit", 7, "")])), None);
        assert_eq!(found(true, &json!([])), None);
    }
}
