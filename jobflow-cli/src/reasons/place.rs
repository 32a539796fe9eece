//! Where a flow runs, and what is seen there beside its record. The same is told in the same words; a few things have
//! other names on a cluster.

use std::collections::BTreeMap;

use jobflow_core::NodeId;
use jobflow_local::runner::Reasons;

/// Where a flow runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// On this machine.
    Machine,
    /// On a cluster.
    #[cfg(feature = "cluster")]
    Cluster,
}

/// Something that was seen of a node's job beside its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// What it is.
    pub(crate) text: String,
    /// When the node goes on; nothing where that doesn't follow from it.
    pub(crate) release: Option<String>,
}

/// Notes by node, the most telling one first.
pub(crate) type Notes = BTreeMap<NodeId, Vec<Note>>;

/// What a run of this machine says of its jobs: what there is too little of.
pub(crate) fn of_shortages(reasons: &Reasons, name: impl Fn(NodeId) -> String) -> Notes {
    let note = |(node, shortage): &(NodeId, jobflow_local::resources::Shortage)| {
        let release = format!(
            "when jobs that run give back enough {} for {}",
            shortage.resource,
            name(*node)
        );
        let note = Note {
            text: shortage.to_string(),
            release: Some(release),
        };
        (*node, vec![note])
    };
    reasons.shortages.iter().map(note).collect()
}

impl Place {
    /// What runs for a replica.
    pub(super) const fn pods(self) -> &'static str {
        match self {
            Self::Machine => "processes",
            #[cfg(feature = "cluster")]
            Self::Cluster => "pods",
        }
    }

    /// When a flow that is suspended goes on.
    pub(super) fn resumed(self, flow: &str) -> String {
        match self {
            Self::Machine => format!(
                "when `suspend` is taken out of `{flow}`; a run keeps the flow it began with, so run it anew"
            ),
            #[cfg(feature = "cluster")]
            Self::Cluster => format!("when it is resumed: kubectl jobflow resume {flow}"),
        }
    }

    /// What a node meets that waits for a free place.
    pub(super) const fn limit(self) -> &'static str {
        match self {
            Self::Machine => "`parallelism`, or `--jobs`",
            #[cfg(feature = "cluster")]
            Self::Cluster => "`parallelism`",
        }
    }

    /// Whether it is known when an answer was given, and how often before.
    pub(super) const fn dates_answers(self) -> bool {
        match self {
            Self::Machine => true,
            #[cfg(feature = "cluster")]
            Self::Cluster => false,
        }
    }
}
