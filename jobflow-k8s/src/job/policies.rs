//! The rules for policies, as Volcano's admission has them.

use std::collections::BTreeSet;

use jobflow_core::gang::{Action, Event};

use super::duration;
use crate::fault::{Code, Fault, FieldPath};
use crate::types::job::Policy;

/// Everything that is wrong with a list of policies.
pub(super) fn faults(policies: &[Policy], path: &FieldPath) -> Vec<Fault> {
    let mut checked = Checked::default();
    for (index, policy) in policies.iter().enumerate() {
        checked.policy(policy, &path.index(index));
    }
    if checked.events.contains("*") && checked.events.len() > 1 {
        let message = "a policy for the event `*` must be the only one with events";
        checked
            .faults
            .push(Fault::error(Code::BadJob, path.clone(), message));
    }
    checked.faults
}

/// The action that a policy may name.
pub(super) fn action(text: &str) -> Option<Action> {
    Action::parse(text).filter(|action| is_allowed_action(*action))
}

/// The event that a policy may name.
pub(super) fn event(text: &str) -> Option<Event> {
    Event::parse(text).filter(|event| is_allowed_event(*event))
}

/// The events of a policy, as written.
pub(super) fn events(policy: &Policy) -> impl Iterator<Item = &str> {
    let one = policy.event.iter().filter(|event| !event.is_empty());
    one.chain(policy.events.iter().flatten()).map(String::as_str)
}

#[derive(Default)]
struct Checked<'a> {
    events: BTreeSet<&'a str>,
    exit_codes: BTreeSet<i32>,
    faults: Vec<Fault>,
}

impl<'a> Checked<'a> {
    fn policy(&mut self, policy: &'a Policy, path: &FieldPath) {
        let bad = |path: FieldPath, message: String| Fault::error(Code::BadJob, path, message);
        let has_events = events(policy).next().is_some();
        match (has_events, policy.exit_code) {
            (true, Some(_)) => {
                self.faults.push(bad(
                    path.clone(),
                    "a policy has events or an exit code, not both".to_owned(),
                ));
            }
            (false, None) => {
                self.faults.push(bad(
                    path.clone(),
                    "a policy needs an event or an exit code".to_owned(),
                ));
            }
            (false, Some(0)) => {
                self.faults.push(bad(
                    path.field("exitCode"),
                    "0 is no exit code of a failure".to_owned(),
                ));
            }
            (false, Some(code)) if !self.exit_codes.insert(code) => {
                self.faults.push(bad(
                    path.field("exitCode"),
                    format!("exit code {code} has a policy already"),
                ));
            }
            (true, None) | (false, Some(_)) => {}
        }
        for name in events(policy) {
            self.event(name, path);
        }
        self.action(policy.action.as_deref().unwrap_or_default(), path);
        if let Some(timeout) = policy
            .timeout
            .as_deref()
            .filter(|text| duration::parse(text).is_none())
        {
            let fault = bad(path.field("timeout"), format!("`{timeout}` is no duration"));
            self.faults
                .push(fault.with_help("write it like `30s`, `10m`, `1h30m`"));
        }
    }

    fn event(&mut self, name: &'a str, path: &FieldPath) {
        if event(name).is_none() {
            let allowed: Vec<_> = Event::ALL
                .iter()
                .filter(|event| is_allowed_event(**event))
                .map(|event| event.as_str())
                .collect();
            let message = format!("`{name}` is no event of a policy: {}", allowed.join(", "));
            let fault = Fault::error(Code::BadJob, path.field("event"), message);
            self.faults.push(fault.with_suggestion(name, allowed));
        } else if !self.events.insert(name) {
            let message = format!("the event `{name}` has a policy already");
            self.faults
                .push(Fault::error(Code::BadJob, path.field("event"), message));
        }
    }

    fn action(&mut self, name: &str, path: &FieldPath) {
        if action(name).is_some() {
            return;
        }
        let allowed: Vec<_> = Action::ALL
            .iter()
            .filter(|action| is_allowed_action(**action))
            .map(|action| action.as_str())
            .collect();
        let message = format!("`{name}` is no action of a policy: {}", allowed.join(", "));
        let fault = Fault::error(Code::BadJob, path.field("action"), message);
        self.faults.push(fault.with_suggestion(name, allowed));
    }
}

fn is_allowed_event(event: Event) -> bool {
    match event {
        Event::Any
        | Event::PodFailed
        | Event::PodEvicted
        | Event::PodPending
        | Event::JobUnknown
        | Event::TaskCompleted
        | Event::TaskFailed
        | Event::JobUpdated => true,
        Event::PodRunning | Event::OutOfSync | Event::CommandIssued => false,
    }
}

fn is_allowed_action(action: Action) -> bool {
    match action {
        Action::AbortJob
        | Action::RestartJob
        | Action::RestartTask
        | Action::RestartPod
        | Action::RestartPartition
        | Action::TerminateJob
        | Action::CompleteJob
        | Action::ResumeJob => true,
        Action::SyncJob | Action::EnqueueJob => false,
    }
}
