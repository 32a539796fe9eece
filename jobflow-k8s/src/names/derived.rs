//! Names of Jobs, and whether the longest of them is short enough.

use std::fmt;

/// The longest name that a pod, and so a Job with its task and index, may have.
pub const MOST_NAME: usize = 63;

/// The name of a Job: `<flow>-<entry>`, `…-<instance>` in a group, `…-r<attempt>` from the second attempt on.
///
/// ```
/// use jobflow_k8s::names::job_name;
///
/// assert_eq!(job_name("f", "train", None, 1), "f-train");
/// assert_eq!(job_name("f", "train", Some(3), 2), "f-train-3-r2");
/// ```
#[must_use]
pub fn job_name(flow: &str, entry: &str, instance: Option<u32>, attempt: u32) -> String {
    let mut name = format!("{flow}-{entry}");
    if let Some(instance) = instance {
        name.push_str(&format!("-{instance}"));
    }
    if attempt > 1 {
        name.push_str(&format!("-r{attempt}"));
    }
    name
}

/// A derived name that is too long, with the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// The name.
    pub name: String,
    /// Of what: the Job, or a pod of the task.
    pub task: Option<String>,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, length) = (&self.name, self.name.len());
        match &self.task {
            Some(task) => write!(
                f,
                "the longest name of a pod of task `{task}`, `{name}`, has {length} characters"
            )?,
            None => write!(f, "the longest name of a job, `{name}`, has {length} characters")?,
        }
        write!(f, "; at most {MOST_NAME} are allowed")
    }
}

/// Checks the longest names that follow from an entry: of its last instance's last attempt, and of each task's last
/// pod.
///
/// # Errors
///
/// The longest name, if it has more than [`MOST_NAME`] characters.
pub fn longest<'a>(
    flow: &str,
    entry: &str,
    instances: Option<u32>,
    attempts: u32,
    tasks: impl IntoIterator<Item = (&'a str, u32)>,
) -> Result<(), TooLong> {
    let job = job_name(
        flow,
        entry,
        instances.map(|count| count.saturating_sub(1)),
        attempts,
    );
    let pods = tasks.into_iter().map(|(task, replicas)| {
        let name = format!("{job}-{task}-{}", replicas.saturating_sub(1));
        (name, Some(task.to_owned()))
    });
    let all = std::iter::once((job.clone(), None)).chain(pods);
    match all.max_by_key(|(name, _)| name.len()) {
        Some((name, task)) if name.len() > MOST_NAME => Err(TooLong { name, task }),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_pod_of_the_last_attempt_counts() {
        let entry = "e".repeat(50);
        assert_eq!(longest("flow", &entry, None, 1, [("main", 10)]), Ok(()));
        let fault = longest("flow", &entry, None, 1, [("main", 1), ("main", 101)]);
        let name = format!("flow-{entry}-main-100");
        assert_eq!(
            fault,
            Err(TooLong {
                name,
                task: Some("main".to_owned())
            })
        );
        assert!(longest("flow", &entry, Some(11), 12, [("main", 1)]).is_err());
    }

    #[test]
    fn the_refusal_has_the_numbers() {
        let fault = longest("f", &"e".repeat(63), None, 2, []).unwrap_err();
        let text = fault.to_string();
        assert!(
            text.contains("has 68 characters") && text.ends_with("at most 63 are allowed"),
            "{text}"
        );
    }
}
