//! What someone should look at: about the whole cluster, or about single flows.
//!
//! Comes in: what the checks at start and the driver found. Goes out: one clear line each, a name for metrics, and
//! whether it keeps the controller from being ready. Deliberately absent: anything of a tenant that could change
//! readiness; what concerns single flows is told, and no more.

pub mod definitions;
pub mod rights;
pub mod rivals;

use jobflow_k8s::client::Finding;

/// A finding about the whole cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// A definition that is served drops fields that this controller relies on.
    SchemaLacksFields,
    /// A definition is not installed, or not served as it must be.
    DefinitionMissing,
    /// The controller may not do what it has to.
    NotPermitted,
    /// Another controller writes the status of JobFlows.
    AnotherController,
    /// The Lease belongs to a program of another kind.
    LeaseForeign,
    /// A check could not be made.
    NotChecked,
}

impl Check {
    /// All, in the order in which they are told.
    pub const ALL: [Self; 6] = [
        Self::SchemaLacksFields,
        Self::DefinitionMissing,
        Self::NotPermitted,
        Self::AnotherController,
        Self::LeaseForeign,
        Self::NotChecked,
    ];

    /// Its name in metrics, logs and answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SchemaLacksFields => "SchemaLacksFields",
            Self::DefinitionMissing => "DefinitionMissing",
            Self::NotPermitted => "NotPermitted",
            Self::AnotherController => "AnotherController",
            Self::LeaseForeign => "LeaseForeign",
            Self::NotChecked => "NotChecked",
        }
    }

    /// Whether nothing can work as it should before it is mended.
    ///
    /// Traces of another controller are in objects of tenants, and a check that could not be made says nothing.
    #[must_use]
    pub const fn blocks(self) -> bool {
        match self {
            Self::SchemaLacksFields | Self::DefinitionMissing | Self::NotPermitted | Self::LeaseForeign => {
                true
            }
            Self::AnotherController | Self::NotChecked => false,
        }
    }

    /// What it means, for the reference.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::SchemaLacksFields => {
                "the definition that is served drops fields: nothing is created for flows that need them; install ours with `kubectl apply --server-side -f deploy/crds`"
            }
            Self::DefinitionMissing => {
                "a definition isn't installed, or not served with its status subresource"
            }
            Self::NotPermitted => "a right is missing; the line names it, `deploy/rights.txt` lists all",
            Self::AnotherController => {
                "another controller writes the status of JobFlows: start Volcano's with `--controllers=*,-jobflow-controller,-jobtemplate-controller`"
            }
            Self::LeaseForeign => {
                "the Lease is held by a program of another kind: choose another `--lease-name`"
            }
            Self::NotChecked => "a check could not be made, and is made again",
        }
    }
}

/// The findings about single flows, and what each means.
pub const OF_FLOWS: [(&str, &str); 13] = [
    (
        "SchemaLacksFields",
        "the server dropped fields of the status that was written; nothing is created",
    ),
    (
        "InvalidSpec",
        "the spec is not valid; each fault is named with its path",
    ),
    (
        "Unreadable",
        "the object can't be read at all; it is left alone until it changes",
    ),
    (
        "Panicked",
        "planning it failed by a fault of this program; it is left alone until it changes",
    ),
    (
        "UnreadableStatus",
        "its status can't be read; it is left alone until it changes",
    ),
    (
        "NotTakenOver",
        "Volcano's controller has begun it, and `--take-over` is off",
    ),
    ("LedgerLost", "it was begun, and its record is gone"),
    ("Stray", "a Job of it belongs to no attempt, and is deleted"),
    ("StatusTruncated", "the status was cut to fit"),
    (
        "StatusTooLarge",
        "the status can't be made small enough to be stored; the flow makes no Jobs",
    ),
    ("StatusRefused", "the server refuses the status"),
    (
        "NotFrozen",
        "a template can't be frozen now; entries that name it wait",
    ),
    (
        "CommandsUnavailable",
        "Commands can't be created; Jobs that must end are deleted",
    ),
];

/// A finding of the driver about one flow: its name, whether it is a warning, and what to say.
#[must_use]
pub fn of_flow(finding: &Finding) -> (&'static str, String) {
    match finding {
        Finding::SchemaLacksFields => (
            "SchemaLacksFields",
            "the server drops fields of the status: the installed definition of JobFlow isn't jobflow's, and nothing is created".to_owned(),
        ),
        Finding::InvalidSpec(faults) => ("InvalidSpec", list("the spec is not valid", faults)),
        Finding::Unreadable(why) => ("Unreadable", format!("the object can't be read: {why}")),
        Finding::Panicked(why) => ("Panicked", format!("planning it failed, it is left alone until it changes: {why}")),
        Finding::UnreadableStatus(why) => {
            ("UnreadableStatus", format!("its status can't be read, it is left alone until it changes: {why}"))
        }
        Finding::NotTakenOver => (
            "NotTakenOver",
            "Volcano's controller has begun it, and --take-over is off".to_owned(),
        ),
        Finding::LedgerLost => (
            "LedgerLost",
            "it was begun, and its record is gone: entries without a trace wait for a Retry or Skip request".to_owned(),
        ),
        Finding::Stray { job, uid } => {
            ("Stray", format!("Job {job} ({uid}) belongs to no attempt and is deleted"))
        }
        Finding::StatusTruncated => ("StatusTruncated", "the status was cut to fit".to_owned()),
        Finding::StatusTooLarge => (
            "StatusTooLarge",
            "the status can't be made small enough to be stored: the flow makes no Jobs".to_owned(),
        ),
        Finding::StatusRefused(why) => ("StatusRefused", format!("the server refuses the status: {why}")),
        Finding::NotFrozen(why) => ("NotFrozen", format!("{why}; entries that name it wait")),
        Finding::CommandsUnavailable(why) => (
            "CommandsUnavailable",
            format!("Commands can't be created, Jobs that must end are deleted: {why}"),
        ),
        other => ("Other", format!("{other:?}")),
    }
}

/// At most five things, and how many more.
pub(crate) fn list(what: &str, things: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = things
        .iter()
        .take(SHOWN)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join("; ");
    match things.len().saturating_sub(SHOWN) {
        0 => format!("{what}: {shown}"),
        more => format!("{what}: {shown}; and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_cut_and_says_so() {
        let things: Vec<_> = (1..=7).map(|number| number.to_string()).collect();
        assert_eq!(list("wrong", &things), "wrong: 1; 2; 3; 4; 5; and 2 more");
        assert_eq!(list("wrong", things.get(..1).unwrap()), "wrong: 1");
    }
}
