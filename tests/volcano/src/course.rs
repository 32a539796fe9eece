//! What the pods of a Job are to do: made-up times and ends.
//!
//! Comes in: annotations of a Job and of its pod templates, or what a test says. Goes out: a [`Course`]. Annotations that
//! can't be read count as missing.
//!
//! | on a pod template | |
//! | --- | --- |
//! | `run/for` | how long a pod runs, as `500ms`, `30s`, `2m` |
//! | `run/exit` | what it exits with, `0` without; `never` for a pod that runs for ever; `1,1,0`: by incarnation, the last again and again |
//! | `run/pending-for` | how long it is Pending; `never` for one that never runs |
//! | `run/evicted-after` | it runs so long and is gone |
//!
//! | on the Job | |
//! | --- | --- |
//! | `run/admitted-after` | how long the gang waits for its place; `never` for one that can't be scheduled |
//! | `run/disappears-after` | somebody deletes the Job so long after it was made |

use std::collections::BTreeMap;

use jobflow_core::Span;
use serde_json::Value;

/// What a Job is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Course {
    /// When the gang gets its place; `None` for never.
    pub admitted_after: Option<Span>,
    /// When somebody deletes the Job; `None` for never.
    pub disappears_after: Option<Span>,
    /// What pods do, by task; the last one stands for those that follow.
    pub pods: Vec<PodCourse>,
}

/// What the pods of a task are to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodCourse {
    /// How long it is Pending; `None` for ever.
    pub pending_for: Option<Span>,
    /// How long it runs.
    pub runs_for: Span,
    /// How it ends, by incarnation; the last one stands for those that follow.
    pub ends: Vec<PodEnd>,
    /// How long it takes to go once it was told to.
    pub goes_within: Span,
}

/// How a pod ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodEnd {
    /// Its container exits with that.
    Exits(i32),
    /// It is gone, as when its node is drained.
    Evicted,
    /// It doesn't end.
    Never,
}

impl Default for PodCourse {
    fn default() -> Self {
        Self {
            pending_for: Some(Span(30)),
            runs_for: Span(500),
            ends: vec![PodEnd::Exits(0)],
            goes_within: Span(20),
        }
    }
}

impl Default for Course {
    fn default() -> Self {
        Self {
            admitted_after: Some(Span(60)),
            disappears_after: None,
            pods: vec![PodCourse::default()],
        }
    }
}

impl Course {
    /// All pods do the same.
    #[must_use]
    pub fn of(pods: PodCourse) -> Self {
        Self {
            pods: vec![pods],
            ..Self::default()
        }
    }

    /// What the annotations say, and `usual` for what they don't.
    #[must_use]
    pub fn annotated(annotations: &BTreeMap<String, String>, templates: &[Value], usual: &Self) -> Self {
        let admitted = annotations.get("run/admitted-after").map(String::as_str);
        let disappears = annotations.get("run/disappears-after");
        let pods = (0..)
            .zip(templates)
            .map(|(task, template)| annotated_pod(template, usual.pod(task)));
        Self {
            admitted_after: or_never(admitted, usual.admitted_after),
            disappears_after: disappears.and_then(|text| span(text)).or(usual.disappears_after),
            pods: pods.collect(),
        }
    }

    /// What pods of a task do.
    #[must_use]
    pub fn pod(&self, task: u32) -> PodCourse {
        let pod = self.pods.get(task as usize).or_else(|| self.pods.last());
        pod.cloned().unwrap_or_default()
    }
}

impl PodCourse {
    /// Runs so long and exits with that.
    #[must_use]
    pub fn exits(runs_for: Span, code: i32) -> Self {
        Self {
            runs_for,
            ends: vec![PodEnd::Exits(code)],
            ..Self::default()
        }
    }

    /// How an incarnation ends.
    pub(crate) fn end(&self, incarnation: u32) -> PodEnd {
        let end = self.ends.get(incarnation as usize).or_else(|| self.ends.last());
        end.copied().unwrap_or(PodEnd::Exits(0))
    }
}

fn annotated_pod(template: &Value, usual: PodCourse) -> PodCourse {
    let annotation = |key: &str| template["metadata"]["annotations"][key].as_str();
    let evicted = annotation("run/evicted-after").and_then(span);
    let ends = annotation("run/exit").and_then(|text| text.split(',').map(end).collect());
    PodCourse {
        pending_for: or_never(annotation("run/pending-for"), usual.pending_for),
        runs_for: evicted
            .or_else(|| annotation("run/for").and_then(span))
            .unwrap_or(usual.runs_for),
        ends: evicted
            .map(|_| vec![PodEnd::Evicted])
            .or(ends)
            .unwrap_or(usual.ends),
        goes_within: usual.goes_within,
    }
}

fn or_never(text: Option<&str>, usual: Option<Span>) -> Option<Span> {
    match text {
        Some("never") => None,
        Some(text) => span(text).or(usual),
        None => usual,
    }
}

fn end(text: &str) -> Option<PodEnd> {
    match text.trim() {
        "never" => Some(PodEnd::Never),
        code => code.parse().ok().map(PodEnd::Exits),
    }
}

/// A number and one of `ms`, `s`, `m`.
fn span(text: &str) -> Option<Span> {
    let digits = text.len()
        - text
            .trim_start_matches(|letter: char| letter.is_ascii_digit())
            .len();
    let (number, unit) = text.split_at(digits);
    let milliseconds = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(milliseconds).map(Span)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(annotations: Value) -> PodCourse {
        let templates = [json!({ "metadata": { "annotations": annotations } })];
        Course::annotated(&BTreeMap::new(), &templates, &Course::default()).pod(0)
    }

    #[test]
    fn annotations_of_a_template_say_what_its_pods_do() {
        let failing = pod(json!({ "run/for": "2s", "run/exit": "1" }));
        assert_eq!(failing, PodCourse::exits(Span(2000), 1));
        let third = pod(json!({ "run/exit": "1, 1,0" }));
        let ends = [0, 1, 2, 3].map(|incarnation| third.end(incarnation));
        assert_eq!(ends, [1, 1, 0, 0].map(PodEnd::Exits));
        assert_eq!(pod(json!({ "run/exit": "never" })).end(0), PodEnd::Never);
        let evicted = pod(json!({ "run/evicted-after": "300ms" }));
        assert_eq!((evicted.runs_for, evicted.end(0)), (Span(300), PodEnd::Evicted));
        assert_eq!(pod(json!({ "run/pending-for": "never" })).pending_for, None);
    }

    #[test]
    fn what_cannot_be_read_counts_as_missing() {
        for text in ["", "s", "1h", "-1s", "99999999999999999999s", "1"] {
            assert_eq!(pod(json!({ "run/for": text })), PodCourse::default(), "{text}");
        }
        assert_eq!(pod(json!({ "run/exit": "x" })), PodCourse::default());
        assert_eq!(pod(json!(null)), PodCourse::default());
    }

    #[test]
    fn a_gang_that_cannot_be_scheduled_is_never_admitted() {
        let annotations = [("run/admitted-after".to_owned(), "never".to_owned())].into();
        let course = Course::annotated(&annotations, &[], &Course::default());
        assert_eq!(course.admitted_after, None);
        assert_eq!(course.pod(3), PodCourse::default());
    }
}
