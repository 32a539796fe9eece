//! The status of a Job as JSON, exactly as Volcano writes it: what is zero or empty is left out, times have whole
//! seconds, durations are Go's.

use jiff::Timestamp;
use jobflow_core::gang::{Condition, GangStatus, PodCounts};
use jobflow_core::{Span, Time};
use serde_json::{Map, Value, json};

use crate::clock::Clock;

/// What is to stand in `status`. An end that is written again has a duration of whole seconds.
pub(crate) fn status(status: &GangStatus, again: bool, clock: Clock) -> Value {
    let GangStatus {
        phase,
        last_transition,
        min_available,
        version,
        retry_count,
        counts,
        task_status_count,
        conditions,
        running_duration,
    } = status;
    let mut written = Map::new();
    if !conditions.is_empty() {
        let conditions = conditions
            .iter()
            .map(|condition| self::condition(condition, clock));
        written.insert("conditions".to_owned(), conditions.collect());
    }
    insert(&mut written, "minAvailable", min_available.unwrap_or(0));
    insert_counts(&mut written, *counts);
    insert(&mut written, "retryCount", *retry_count);
    insert(&mut written, "version", *version);
    if let Some(span) = running_duration {
        let span = clock.span(*span);
        let span = if again {
            Span::from_secs(span.as_secs())
        } else {
            span
        };
        written.insert("runningDuration".to_owned(), duration(span).into());
    }
    if !task_status_count.is_empty() {
        let tasks = task_status_count.iter().map(|(task, phases)| {
            let phases: Map<String, Value> = phases
                .iter()
                .map(|(phase, count)| (phase.to_string(), (*count).into()))
                .collect();
            (task.clone(), json!({ "phase": phases }))
        });
        written.insert("taskStatusCount".to_owned(), Value::Object(tasks.collect()));
    }
    if let Some(at) = last_transition {
        let state = json!({ "lastTransitionTime": time(*at, clock), "phase": phase.as_str() });
        written.insert("state".to_owned(), state);
    }
    Value::Object(written)
}

fn condition(condition: &Condition, clock: Clock) -> Value {
    let Condition {
        status,
        last_transition,
    } = condition;
    json!({ "lastTransitionTime": time(*last_transition, clock), "status": status.as_str() })
}

fn insert_counts(written: &mut Map<String, Value>, counts: PodCounts) {
    let PodCounts {
        pending,
        running,
        succeeded,
        failed,
        terminating,
        unknown,
    } = counts;
    insert(written, "pending", pending);
    insert(written, "running", running);
    insert(written, "succeeded", succeeded);
    insert(written, "failed", failed);
    insert(written, "terminating", terminating);
    insert(written, "unknown", unknown);
}

fn insert(written: &mut Map<String, Value>, key: &str, count: u32) {
    if count > 0 {
        written.insert(key.to_owned(), count.into());
    }
}

/// Whole seconds, as Kubernetes writes times.
pub(crate) fn time(at: Time, clock: Clock) -> String {
    let seconds = clock.on_the_wall(at).div_euclid(1000);
    let timestamp = Timestamp::from_second(seconds).unwrap_or_default();
    timestamp.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// As Go prints a duration: `1.5s`, `957ms`, `2m44s`.
fn duration(span: Span) -> String {
    let (seconds, milliseconds) = (span.as_secs(), span.0 % 1000);
    if seconds == 0 && milliseconds > 0 {
        return format!("{milliseconds}ms");
    }
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let fraction = format!(".{milliseconds:03}");
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    let seconds = format!("{}{fraction}s", seconds % 60);
    match (hours, minutes) {
        (0, 0) => seconds,
        (0, _) => format!("{minutes}m{seconds}"),
        _ => format!("{hours}h{minutes}m{seconds}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jobflow_core::gang::{JobPhase, PodPhase};

    #[test]
    fn durations_are_printed_as_go_does() {
        let texts = [0, 957, 1000, 1562, 164_536, 3_600_000].map(|milliseconds| duration(Span(milliseconds)));
        assert_eq!(texts, ["0s", "957ms", "1s", "1.562s", "2m44.536s", "1h0m0s"]);
    }

    #[test]
    fn a_new_job_has_an_empty_status() {
        assert_eq!(status(&GangStatus::default(), false, Clock::new(1)), json!({}));
    }

    #[test]
    fn a_status_has_what_volcano_writes_and_nothing_more() {
        let clock = Clock::new(1);
        let now = clock.now();
        let running = GangStatus {
            phase: JobPhase::Running,
            last_transition: Some(now),
            min_available: Some(1),
            counts: PodCounts {
                running: 1,
                ..PodCounts::default()
            },
            task_status_count: [("main".to_owned(), [(PodPhase::Running, 1)].into())].into(),
            conditions: vec![Condition {
                status: JobPhase::Running,
                last_transition: now,
            }],
            ..GangStatus::default()
        };
        let at = time(now, clock);
        let expected = json!({
            "conditions": [{ "lastTransitionTime": at, "status": "Running" }],
            "minAvailable": 1,
            "running": 1,
            "taskStatusCount": { "main": { "phase": { "Running": 1 } } },
            "state": { "lastTransitionTime": at, "phase": "Running" },
        });
        assert_eq!(status(&running, false, clock), expected);
    }
}
