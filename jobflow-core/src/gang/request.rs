//! The one thing that a step takes up: a command, before a job that waits for its queue too long, before an action
//! whose time has come, before the oldest event, before mere changes.

use super::key::PodKey;
use super::plan::Cause;
use super::policy::{Action, Command};
use super::state::Raised;
use super::turn::Turn;

impl Turn<'_> {
    pub(super) fn request(&mut self, command: Option<Command>) -> Cause {
        if let Some(command) = command {
            return Cause::Commanded(command);
        }
        if self.is_queue_given_up() {
            return Cause::QueueMissing;
        }
        if let Some(Raised { event, action, pod }) = self.due().or_else(|| self.oldest()) {
            return Cause::Policy { event, action, pod };
        }
        if self.changed || !self.next.settled {
            Cause::Changed
        } else {
            Cause::Nothing
        }
    }

    /// The patience starts anew, should there be still something to wait for.
    fn is_queue_given_up(&mut self) -> bool {
        let given_up = self.queue_deadline().is_some_and(|deadline| deadline <= self.now);
        if given_up {
            self.next.queue_missing_since = None;
        }
        given_up
    }

    fn due(&mut self) -> Option<Raised> {
        let delayed = self.next.delayed.iter().enumerate();
        let (place, due) = delayed
            .map(|(place, delayed)| (place, delayed.due))
            .min_by_key(|(_, due)| *due)?;
        (due <= self.now).then(|| self.next.delayed.remove(place).raised)
    }

    fn oldest(&mut self) -> Option<Raised> {
        (!self.next.raised.is_empty()).then(|| self.next.raised.remove(0))
    }
}

impl Cause {
    /// What is to be done, and to which pod; `None` if nothing was new.
    pub(super) const fn request(self) -> Option<(Action, Option<PodKey>)> {
        match self {
            Self::Nothing => None,
            Self::Changed => Some((Action::SyncJob, None)),
            Self::Commanded(command) => Some((command.action(), None)),
            Self::Policy {
                event: _,
                action,
                pod,
            } => Some((action, pod)),
            Self::QueueMissing => Some((Action::TerminateJob, None)),
        }
    }
}
