//! The name of one life of one container, as a key of the executor: `NODE/INDEX/ATTEMPT:TASK/REPLICA/INCARNATION:C.RUN`.

use std::{fmt, str::FromStr};

use jobflow_core::{JobKey, NodeId, gang::PodKey};

use crate::task::{BadKey, TaskKey};

/// One life of one container of one pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContainerKey {
    /// The Job.
    pub job: JobKey,
    /// The pod.
    pub pod: PodKey,
    /// Place of the container in the pod, init containers first.
    pub container: u32,
    /// How often it was started before.
    pub run: u32,
}

impl fmt::Display for ContainerKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            job,
            pod,
            container,
            run,
        } = self;
        write!(formatter, "{job}:{pod}:{container}.{run}")
    }
}

impl ContainerKey {
    /// Reads a key back; none when it isn't one of these.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let job = job_key(parts.next()?)?;
        let pod = PodKey::from_str(parts.next()?).ok()?;
        let (container, run) = parts.next()?.split_once('.')?;
        let key = Self {
            job,
            pod,
            container: container.parse().ok()?,
            run: run.parse().ok()?,
        };
        parts.next().is_none().then_some(key)
    }

    /// The key as the executor takes it.
    ///
    /// # Errors
    ///
    /// Never for numbers; the executor's own check is applied all the same.
    pub fn task(&self) -> Result<TaskKey, BadKey> {
        TaskKey::new(self.to_string())
    }
}

fn job_key(text: &str) -> Option<JobKey> {
    let mut numbers = text.split('/').map(str::parse);
    let mut number = || numbers.next()?.ok();
    let key = JobKey {
        node: NodeId(number()?),
        index: number()?,
        attempt: number()?,
    };
    numbers.next().is_none().then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_back_from_its_text() {
        let key = ContainerKey {
            job: JobKey {
                node: NodeId(3),
                index: 0,
                attempt: 2,
            },
            pod: PodKey {
                task: 1,
                index: 4,
                incarnation: 0,
            },
            container: 2,
            run: 5,
        };
        assert_eq!(key.to_string(), "3/0/2:1/4/0:2.5");
        assert_eq!(ContainerKey::parse("3/0/2:1/4/0:2.5"), Some(key));
        assert_eq!(
            key.task().map(|task| task.as_str().to_owned()).ok().as_deref(),
            Some("3/0/2:1/4/0:2.5")
        );
        for other in [
            "",
            "3/0:1/4/0:2.5",
            "3/0/2:1/4/0:2",
            "3/0/2:1/4/0:2.5:x",
            "a/0/2:1/4/0:2.5",
        ] {
            assert_eq!(ContainerKey::parse(other), None, "{other}");
        }
    }
}
