//! What a person's wish means for the spec of a flow. Pure: a flow in, a patch or a word out.

use jobflow_k8s::types::{CancelMode, JobFlow};
use serde_json::{Value, json};

/// What a person wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Start nothing new; stop what runs, too.
    Suspend {
        /// Whether what runs is stopped.
        running: bool,
    },
    /// Go on.
    Resume,
    /// End it.
    Cancel {
        /// Whether `finally` is left out.
        now: bool,
        /// Why.
        reason: Option<String>,
    },
}

/// What is to be done about it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Edit {
    /// A change of `spec`, as a merge patch.
    Change(Value),
    /// It is so already.
    Already(&'static str),
    /// It makes no sense any more.
    Pointless(&'static str),
}

/// What a wish means for a flow that has or hasn't ended.
pub(crate) fn edit(flow: &JobFlow, has_ended: bool, wish: &Wish) -> Edit {
    let spec = &flow.spec;
    if has_ended {
        return Edit::Pointless("it has ended");
    }
    match wish {
        Wish::Suspend { .. } | Wish::Resume if spec.cancel.is_some() => {
            Edit::Pointless("it is being cancelled")
        }
        Wish::Suspend { running } => suspend(
            spec.suspend == Some(true),
            spec.suspend_running == Some(true),
            *running,
        ),
        Wish::Resume if spec.suspend != Some(true) => Edit::Already("it is not suspended"),
        Wish::Resume => Edit::Change(json!({ "suspend": null, "suspendRunning": null })),
        Wish::Cancel { now, reason } => {
            let mode = spec.cancel.as_ref().map(|cancel| cancel.mode.unwrap_or_default());
            cancel(mode, *now, reason.as_deref())
        }
    }
}

fn suspend(suspended: bool, stopped: bool, running: bool) -> Edit {
    match (suspended, stopped, running) {
        (true, true, _) | (true, false, false) => Edit::Already("it is suspended"),
        (_, _, true) => Edit::Change(json!({ "suspend": true, "suspendRunning": true })),
        (false, _, false) => Edit::Change(json!({ "suspend": true, "suspendRunning": null })),
    }
}

fn cancel(mode: Option<CancelMode>, now: bool, reason: Option<&str>) -> Edit {
    let wanted = if now {
        CancelMode::Now
    } else {
        CancelMode::Graceful
    };
    match (mode, wanted) {
        (Some(CancelMode::Now), _) | (Some(CancelMode::Graceful), CancelMode::Graceful) => {
            Edit::Already("it is being cancelled")
        }
        (None | Some(CancelMode::Graceful), _) => {
            let mut cancel = json!({ "mode": wanted });
            if let Some(reason) = reason {
                cancel["reason"] = reason.into();
            }
            Edit::Change(json!({ "cancel": cancel }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(spec: Value, has_ended: bool, wish: &Wish) -> Edit {
        let flow: JobFlow = serde_json::from_value(json!({ "metadata": {}, "spec": spec })).unwrap();
        edit(&flow, has_ended, wish)
    }

    #[test]
    fn each_wish_changes_no_more_than_it_must() {
        let (suspend, stop) = (Wish::Suspend { running: false }, Wish::Suspend { running: true });
        let cancel = |now| Wish::Cancel {
            now,
            reason: Some("because".to_owned()),
        };
        let graceful = json!({ "cancel": {} });
        for (spec, wish, change) in [
            (
                json!({}),
                &suspend,
                Some(json!({ "suspend": true, "suspendRunning": null })),
            ),
            (json!({ "suspend": true }), &suspend, None),
            (
                json!({ "suspend": true }),
                &stop,
                Some(json!({ "suspend": true, "suspendRunning": true })),
            ),
            (json!({ "suspend": true, "suspendRunning": true }), &suspend, None),
            (
                json!({ "suspend": true }),
                &Wish::Resume,
                Some(json!({ "suspend": null, "suspendRunning": null })),
            ),
            (json!({ "suspend": false }), &Wish::Resume, None),
            (
                json!({}),
                &cancel(false),
                Some(json!({ "cancel": { "mode": "Graceful", "reason": "because" } })),
            ),
            (graceful.clone(), &cancel(false), None),
            (
                graceful.clone(),
                &cancel(true),
                Some(json!({ "cancel": { "mode": "Now", "reason": "because" } })),
            ),
            (json!({ "cancel": { "mode": "Now" } }), &cancel(true), None),
        ] {
            let found = match edited(spec.clone(), false, wish) {
                Edit::Change(change) => Some(change),
                Edit::Already(_) | Edit::Pointless(_) => None,
            };
            assert_eq!(found, change, "{spec} {wish:?}");
        }
        assert!(matches!(edited(graceful, false, &suspend), Edit::Pointless(_)));
        assert!(matches!(
            edited(json!({}), true, &cancel(true)),
            Edit::Pointless(_)
        ));
    }
}
