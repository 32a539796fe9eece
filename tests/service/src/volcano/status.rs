//! The status of a Job as Volcano writes it, from the core's model.

use jobflow_core::gang::GangStatus;
use jobflow_core::{Span, Time};
use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::stamp;

/// What stands in `status`; counts of none are left out.
pub(super) fn of(status: &GangStatus) -> Value {
    let mut fields = Map::new();
    let mut state = json!({ "phase": status.phase.as_str() });
    if let Some(at) = status.last_transition {
        state["lastTransitionTime"] = time(at).into();
    }
    fields.insert("state".to_owned(), state);
    let counts = &status.counts;
    let numbers = [
        ("minAvailable", status.min_available.unwrap_or(0)),
        ("pending", counts.pending),
        ("running", counts.running),
        ("succeeded", counts.succeeded),
        ("failed", counts.failed),
        ("terminating", counts.terminating),
        ("unknown", counts.unknown),
        ("version", status.version),
        ("retryCount", status.retry_count),
    ];
    for (name, number) in numbers.into_iter().filter(|(_, number)| *number > 0) {
        fields.insert(name.to_owned(), number.into());
    }
    if let Some(duration) = status.running_duration {
        fields.insert("runningDuration".to_owned(), go_duration(duration).into());
    }
    let condition = |condition: &jobflow_core::gang::Condition| json!({ "status": condition.status.as_str(), "lastTransitionTime": time(condition.last_transition) });
    let conditions: Vec<Value> = status.conditions.iter().map(condition).collect();
    if !conditions.is_empty() {
        fields.insert("conditions".to_owned(), conditions.into());
    }
    let mut tasks = Map::new();
    for (task, phases) in &status.task_status_count {
        let counts: Map<String, Value> = phases
            .iter()
            .map(|(phase, count)| (phase.as_str().to_owned(), Value::from(*count)))
            .collect();
        tasks.insert(task.clone(), json!({ "phase": counts }));
    }
    if !tasks.is_empty() {
        fields.insert("taskStatusCount".to_owned(), tasks.into());
    }
    Value::Object(fields)
}

fn time(time: Time) -> String {
    stamp(Timestamp::from_millisecond(time.0).unwrap_or(Timestamp::UNIX_EPOCH))
}

/// As Go writes a duration.
fn go_duration(span: Span) -> String {
    let (minutes, rest) = (span.0 / 60_000, span.0 % 60_000);
    let seconds = format!("{}", rest as f64 / 1000.0);
    if minutes == 0 {
        return format!("{seconds}s");
    }
    format!("{minutes}m{seconds}s")
}
