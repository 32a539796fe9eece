//! Which of Volcano's queues take jobs, as far as a watch has shown. Without it flows are run all the same, and nobody can
//! tell that a Job waits in vain.

use std::collections::{BTreeMap, BTreeSet};

use crate::observe::SlimQueue;

/// Queues by name.
#[derive(Debug, Default)]
pub(super) struct JobQueues {
    shown: BTreeMap<String, SlimQueue>,
    /// Whether a list was complete: before, nobody can say that a queue isn't there.
    listed: bool,
}

impl JobQueues {
    /// A queue is there; its name, if it takes jobs now and didn't before, or the other way round.
    pub(super) fn there(&mut self, queue: SlimQueue) -> Option<String> {
        let name = queue.metadata.name.clone()?;
        let open = queue.open;
        let before = self.shown.insert(name.clone(), queue);
        (before.is_some_and(|before| before.open) != open).then_some(name)
    }

    /// A queue is gone; its name, if it was known.
    pub(super) fn gone(&mut self, name: Option<&str>) -> Option<String> {
        self.shown.remove_entry(name?).map(|(name, _)| name)
    }

    /// These UIDs and no others were there when the list was made.
    pub(super) fn listed(&mut self, uids: &BTreeSet<String>) {
        self.listed = true;
        self.shown.retain(|_, queue| {
            let uid = queue.metadata.uid.as_ref();
            uid.is_some_and(|uid| uids.contains(uid))
        });
    }

    /// Whether the queue of this name takes jobs; none if nobody can tell.
    pub(super) fn takes_jobs(&self, name: &str) -> Option<bool> {
        self.listed
            .then(|| self.shown.get(name).is_some_and(|queue| queue.open))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn queue(name: &str, state: &str) -> SlimQueue {
        serde_json::from_value(json!({
            "metadata": { "name": name, "uid": format!("uid-{name}") }, "status": { "state": state },
        }))
        .unwrap()
    }

    #[test]
    fn nobody_can_tell_before_the_first_list_is_complete() {
        let mut queues = JobQueues::default();
        assert_eq!(queues.takes_jobs("gpu"), None);
        queues.there(queue("gpu", "Open"));
        queues.listed(&["uid-gpu".to_owned()].into());
        assert_eq!(
            (queues.takes_jobs("gpu"), queues.takes_jobs("cpu")),
            (Some(true), Some(false))
        );
        queues.listed(&BTreeSet::new());
        assert_eq!(queues.takes_jobs("gpu"), Some(false));
    }

    #[test]
    fn only_what_makes_a_difference_is_news() {
        let mut queues = JobQueues::default();
        let news = [
            queues.there(queue("gpu", "Open")),
            queues.there(queue("gpu", "Open")),
            queues.there(queue("gpu", "Closing")),
            queues.there(queue("gpu", "Closed")),
            queues.gone(Some("gpu")),
            queues.gone(Some("gpu")),
        ];
        let gpu = || Some("gpu".to_owned());
        assert_eq!(news, [gpu(), None, gpu(), None, gpu(), None]);
    }
}
