//! What holds for a whole flow.

use jobflow_core::Policy;
use jobflow_core::policy::{FailurePolicy, Retain};
use jobflow_core::snapshot::{CancelMode, Wishes};
use serde_json::Value;

use super::counts::{count, seconds};
use super::{digest, retry};
use crate::fault::{Fault, FieldPath};
use crate::types::{self, JobFlowSpec, JobRetainPolicy};

const MOST_JOBS: u32 = 100_000;

/// The settings of a flow.
pub(super) fn of(spec: &JobFlowSpec, uid: &str, root: &FieldPath, faults: &mut Vec<Fault>) -> Policy {
    let usual = Policy::default();
    if let Some(rule) = &spec.retry {
        retry::rule(rule, &root.field("retry"), faults);
    }
    let mut span = |value, least, field| seconds(value, least, &root.field(field), faults);
    let deadline = span(spec.active_deadline_seconds, 1, "activeDeadlineSeconds");
    let finally_deadline =
        span(spec.finally_deadline_seconds, 1, "finallyDeadlineSeconds").unwrap_or(usual.finally_deadline);
    let ttl = span(spec.ttl_seconds_after_finished, 0, "ttlSecondsAfterFinished");
    let retain = spec.job_retain.clone().unwrap_or_default();
    Policy {
        parallelism: count(
            spec.parallelism,
            (1, MOST_JOBS),
            &root.field("parallelism"),
            faults,
        ),
        failure_policy: match spec.failure_policy.unwrap_or_default() {
            types::FailurePolicy::StopNew => FailurePolicy::StopNew,
            types::FailurePolicy::CancelAll => FailurePolicy::CancelAll,
            types::FailurePolicy::Continue => FailurePolicy::Continue,
        },
        deadline,
        finally_deadline,
        ttl,
        retain_on_success: retain
            .on_success
            .map_or_else(|| of_volcano(spec.job_retain_policy), self::retain),
        retain_on_failure: retain.on_failure.map_or(Retain::Keep, self::retain),
        wait_for_pods_gone: spec.wait_for_pods_gone.unwrap_or(false),
        seed: digest(&Value::from(uid)),
        ..usual
    }
}

/// What people ask for.
pub(crate) fn wishes(spec: &JobFlowSpec) -> Wishes {
    let suspend = spec.suspend.unwrap_or(false);
    Wishes {
        suspend,
        suspend_running: suspend && spec.suspend_running.unwrap_or(false),
        cancel: spec
            .cancel
            .as_ref()
            .map(|cancel| match cancel.mode.unwrap_or_default() {
                types::CancelMode::Graceful => CancelMode::Graceful,
                types::CancelMode::Now => CancelMode::Now,
            }),
        deleting: false,
        frozen: false,
    }
}

fn of_volcano(policy: Option<JobRetainPolicy>) -> Retain {
    match policy.unwrap_or_default() {
        JobRetainPolicy::Retain => Retain::Keep,
        JobRetainPolicy::Delete => Retain::Delete,
    }
}

fn retain(retain: types::Retain) -> Retain {
    match retain {
        types::Retain::Retain => Retain::Keep,
        types::Retain::Delete => Retain::Delete,
    }
}
