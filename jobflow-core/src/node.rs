//! The machine that every node goes through: a state and an event in, the next state, no change, or a refusal out.
//!
//! ```text
//!              Block           Submit           Queue         Run
//!   ┌─────────┐ ──► ┌─────────┐ ──► ┌────────────┐ ──► ┌────────┐ ⇄ ┌─────────┐
//!   │ Waiting │     │ Blocked │     │ Submitting │     │ Queued │   │ Running │
//!   └─────────┘ ◄── └─────────┘ ◄── └────────────┘     └────────┘   └─────────┘
//!      ▲    Unblock          Block        ▲                  │  Stop, Pause │
//!      │                                  │ Submit           ▼              ▼
//!      │ Reset                     ┌────────────┐  BackOff ┌──────────┐ ┌────────┐
//!      │                           │ BackingOff │ ◄─────── │ Stopping │ │ Paused │
//!      │                           └────────────┘          └──────────┘ └────────┘
//!   Succeeded, Failed, Skipped, Cancelled ◄── from every phase above
//! ```
//!
//! The whole matrix is a snapshot beside the tests.

use core::fmt;

use crate::phase::NodePhase;

/// What happens to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum NodeEvent {
    /// Something outside its dependencies holds it back.
    Block,
    /// Nothing holds it back any more.
    Unblock,
    /// A job of it is intended.
    Submit,
    /// Its job exists without a running gang.
    Queue,
    /// Its job runs.
    Run,
    /// Its job is being ended by force.
    Stop,
    /// Its job was aborted from outside, or stopped by a suspension.
    Pause,
    /// An attempt ended, and another is due later.
    BackOff,
    /// It ends well.
    Succeed,
    /// It ends badly.
    Fail,
    /// It ends without being run.
    Skip,
    /// It is ended by a stop of the flow.
    Cancel,
    /// A Retry request starts it over.
    Reset,
}

impl NodeEvent {
    /// All events.
    pub const ALL: [Self; 13] = [
        Self::Block,
        Self::Unblock,
        Self::Submit,
        Self::Queue,
        Self::Run,
        Self::Stop,
        Self::Pause,
        Self::BackOff,
        Self::Succeed,
        Self::Fail,
        Self::Skip,
        Self::Cancel,
        Self::Reset,
    ];
}

impl fmt::Display for NodeEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// What an event does to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// The node is in this phase from now on.
    To(NodePhase),
    /// The event says what is so already.
    Same,
    /// The event can't happen in this state.
    Invalid,
}

/// The state of a node. It changes by events alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(transparent)
)]
pub struct NodeState(NodePhase);

impl NodeState {
    /// The state of a node that is read back from a record in this phase.
    #[must_use]
    pub const fn recorded(phase: NodePhase) -> Self {
        Self(phase)
    }

    /// The phase.
    #[must_use]
    pub const fn phase(self) -> NodePhase {
        self.0
    }

    /// Takes an event in and says what it did.
    pub fn on(&mut self, event: NodeEvent) -> Transition {
        let transition = transition(self.0, event);
        if let Transition::To(phase) = transition {
            self.0 = phase;
        }
        transition
    }
}

const fn transition(phase: NodePhase, event: NodeEvent) -> Transition {
    match phase {
        NodePhase::Waiting | NodePhase::Blocked => undecided(phase, event),
        NodePhase::Submitting => submitting(event),
        NodePhase::Queued | NodePhase::Running | NodePhase::Stopping => existing(phase, event),
        NodePhase::BackingOff => backing_off(event),
        NodePhase::Paused => paused(event),
        NodePhase::Succeeded | NodePhase::Failed | NodePhase::Skipped | NodePhase::Cancelled => {
            ended(phase, event)
        }
    }
}

const fn undecided(phase: NodePhase, event: NodeEvent) -> Transition {
    match event {
        NodeEvent::Block if matches!(phase, NodePhase::Blocked) => Transition::Same,
        NodeEvent::Block => Transition::To(NodePhase::Blocked),
        NodeEvent::Unblock | NodeEvent::Reset if matches!(phase, NodePhase::Waiting) => Transition::Same,
        NodeEvent::Unblock | NodeEvent::Reset => Transition::To(NodePhase::Waiting),
        NodeEvent::Submit => Transition::To(NodePhase::Submitting),
        NodeEvent::Queue | NodeEvent::Run | NodeEvent::Stop | NodeEvent::Pause | NodeEvent::BackOff => {
            Transition::Invalid
        }
        NodeEvent::Succeed | NodeEvent::Fail | NodeEvent::Skip | NodeEvent::Cancel => end(event),
    }
}

const fn submitting(event: NodeEvent) -> Transition {
    match event {
        NodeEvent::Block => Transition::To(NodePhase::Blocked),
        NodeEvent::Submit => Transition::Same,
        NodeEvent::Unblock | NodeEvent::Reset => Transition::Invalid,
        NodeEvent::Queue
        | NodeEvent::Run
        | NodeEvent::Stop
        | NodeEvent::Pause
        | NodeEvent::BackOff
        | NodeEvent::Succeed
        | NodeEvent::Fail
        | NodeEvent::Skip
        | NodeEvent::Cancel => seen(event),
    }
}

const fn existing(phase: NodePhase, event: NodeEvent) -> Transition {
    match event {
        NodeEvent::Queue if matches!(phase, NodePhase::Queued) => Transition::Same,
        NodeEvent::Run if matches!(phase, NodePhase::Running) => Transition::Same,
        NodeEvent::Stop if matches!(phase, NodePhase::Stopping) => Transition::Same,
        NodeEvent::Block | NodeEvent::Unblock | NodeEvent::Submit | NodeEvent::Reset => Transition::Invalid,
        NodeEvent::Queue
        | NodeEvent::Run
        | NodeEvent::Stop
        | NodeEvent::Pause
        | NodeEvent::BackOff
        | NodeEvent::Succeed
        | NodeEvent::Fail
        | NodeEvent::Skip
        | NodeEvent::Cancel => seen(event),
    }
}

const fn backing_off(event: NodeEvent) -> Transition {
    match event {
        NodeEvent::BackOff => Transition::Same,
        NodeEvent::Submit => Transition::To(NodePhase::Submitting),
        NodeEvent::Fail | NodeEvent::Skip | NodeEvent::Cancel => end(event),
        NodeEvent::Block
        | NodeEvent::Unblock
        | NodeEvent::Queue
        | NodeEvent::Run
        | NodeEvent::Stop
        | NodeEvent::Pause
        | NodeEvent::Succeed
        | NodeEvent::Reset => Transition::Invalid,
    }
}

const fn paused(event: NodeEvent) -> Transition {
    match event {
        NodeEvent::Pause => Transition::Same,
        NodeEvent::Submit => Transition::To(NodePhase::Submitting),
        NodeEvent::Block | NodeEvent::Unblock | NodeEvent::Reset => Transition::Invalid,
        NodeEvent::Queue
        | NodeEvent::Run
        | NodeEvent::Stop
        | NodeEvent::BackOff
        | NodeEvent::Succeed
        | NodeEvent::Fail
        | NodeEvent::Skip
        | NodeEvent::Cancel => seen(event),
    }
}

const fn ended(phase: NodePhase, event: NodeEvent) -> Transition {
    match (phase, event) {
        (_, NodeEvent::Reset) => Transition::To(NodePhase::Waiting),
        (NodePhase::Succeeded, NodeEvent::Succeed)
        | (NodePhase::Failed, NodeEvent::Fail)
        | (NodePhase::Skipped, NodeEvent::Skip)
        | (NodePhase::Cancelled, NodeEvent::Cancel) => Transition::Same,
        _ => Transition::Invalid,
    }
}

/// What a look at a job that exists makes of its node.
const fn seen(event: NodeEvent) -> Transition {
    match event {
        NodeEvent::Queue => Transition::To(NodePhase::Queued),
        NodeEvent::Run => Transition::To(NodePhase::Running),
        NodeEvent::Stop => Transition::To(NodePhase::Stopping),
        NodeEvent::Pause => Transition::To(NodePhase::Paused),
        NodeEvent::BackOff => Transition::To(NodePhase::BackingOff),
        NodeEvent::Succeed | NodeEvent::Fail | NodeEvent::Skip | NodeEvent::Cancel => end(event),
        NodeEvent::Block | NodeEvent::Unblock | NodeEvent::Submit | NodeEvent::Reset => Transition::Invalid,
    }
}

const fn end(event: NodeEvent) -> Transition {
    match event {
        NodeEvent::Succeed => Transition::To(NodePhase::Succeeded),
        NodeEvent::Fail => Transition::To(NodePhase::Failed),
        NodeEvent::Skip => Transition::To(NodePhase::Skipped),
        NodeEvent::Cancel => Transition::To(NodePhase::Cancelled),
        NodeEvent::Block
        | NodeEvent::Unblock
        | NodeEvent::Submit
        | NodeEvent::Queue
        | NodeEvent::Run
        | NodeEvent::Stop
        | NodeEvent::Pause
        | NodeEvent::BackOff
        | NodeEvent::Reset => Transition::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use super::*;

    #[test]
    fn the_matrix_of_states_and_events_is_this() {
        let mut table = format!("{:<11}", "");
        for event in NodeEvent::ALL {
            table += &format!("{:<11}", format!("{event:?}"));
        }
        for phase in NodePhase::ALL {
            table += &format!("\n{:<11}", phase.as_str());
            for event in NodeEvent::ALL {
                let cell = match NodeState::recorded(phase).on(event) {
                    Transition::To(next) => String::from(next.as_str()),
                    Transition::Same => String::from("="),
                    Transition::Invalid => String::from("-"),
                };
                table += &format!("{cell:<11}");
            }
        }
        let trimmed: alloc::vec::Vec<&str> = table.lines().map(str::trim_end).collect();
        insta::assert_snapshot!(trimmed.join("\n"));
    }

    #[test]
    fn nothing_but_a_reset_leaves_an_end() {
        for phase in NodePhase::ALL.into_iter().filter(|phase| phase.is_end()) {
            for event in NodeEvent::ALL
                .into_iter()
                .filter(|event| *event != NodeEvent::Reset)
            {
                let mut state = NodeState::recorded(phase);
                state.on(event);
                assert_eq!(state.phase(), phase, "{phase} on {event:?}");
            }
        }
    }
}
