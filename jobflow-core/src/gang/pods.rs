//! What was seen of a gang's pods and of its admission. The driver (processes, objects, made-up times) fills it in.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::key::PodKey;
use super::phase::PodPhase;

/// Everything a step may look at that isn't its own memory.
///
/// A pod stays in here from its start until it is really gone; one that ended stays too, until it was stopped.
/// What isn't in here any more, and was before, counts as evicted unless it was stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pods {
    /// Whether the gang may have pods.
    pub admission: Admission,
    /// Pods that exist.
    pub seen: BTreeMap<PodKey, PodView>,
}

/// Whether the gang as a whole may have pods; the driver's books or a scheduler decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Admission {
    /// The queue that the job names doesn't exist: nothing can be decided.
    QueueMissing,
    /// There is no room yet (no PodGroup, or one that is Pending).
    #[default]
    Waiting,
    /// There is room (a PodGroup that is Inqueue, Running or Completed).
    Granted,
    /// Some pods run and the rest can't be scheduled (a PodGroup that is Unknown).
    Unknown,
}

/// One pod as it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PodView {
    /// Its phase.
    pub phase: PodPhase,
    /// Whether all its containers are ready.
    pub ready: bool,
    /// Whether it was told to go (it has a deletion timestamp, or a signal was sent).
    pub terminating: bool,
    /// Exit codes of its containers that ended, in the order of the spec.
    pub exit_codes: Vec<i32>,
    /// Restarts of its containers, together.
    pub restarts: u32,
    /// Why it ended, as `Evicted`. For people and retry rules: no phase of the Job depends on it, in Volcano either.
    pub reason: Option<String>,
}

impl PodView {
    /// A pod of that phase and nothing special: ready when it runs, with exit code 0 or 1 once it ended.
    #[must_use]
    pub fn new(phase: PodPhase) -> Self {
        let exit_codes = match phase {
            PodPhase::Succeeded => Vec::from([0]),
            PodPhase::Failed => Vec::from([1]),
            PodPhase::Pending | PodPhase::Running | PodPhase::Unknown => Vec::new(),
        };
        let ready = matches!(phase, PodPhase::Running);
        Self {
            phase,
            ready,
            terminating: false,
            exit_codes,
            restarts: 0,
            reason: None,
        }
    }

    /// A failed pod whose first container ended with `exit_code`.
    #[must_use]
    pub fn failed(exit_code: i32) -> Self {
        Self {
            exit_codes: Vec::from([exit_code]),
            ..Self::new(PodPhase::Failed)
        }
    }
}

impl Admission {
    /// Whether pods may be made.
    #[must_use]
    pub const fn is_granted(self) -> bool {
        matches!(self, Self::Granted | Self::Unknown)
    }
}
