//! The shape of a flow as its author wrote it: entries and what they wait for, whatever else may be wrong.
//!
//! Comes in: a document. Goes out: names, paths and arrows, for drawing and for the checks of the graph. Lenient on
//! purpose: what has the wrong type is left out here and told by the schema's checks.

mod entry;
mod faults;

use jobflow_k8s::check::{Subject, subject};
use jobflow_k8s::fault::FieldPath;
use jobflow_k8s::schema::Kind;
use jobflow_k8s::yaml::Document;
use serde_json::Value;

pub(crate) use entry::{Entry, Wait, Work};

/// The shape of one flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shape {
    /// The flow's name.
    pub(crate) name: String,
    /// Its entries, those of `finally` after the others.
    pub(crate) entries: Vec<Entry>,
    /// Entries that branches of switches name and that aren't there.
    unknown_branches: Vec<(String, FieldPath)>,
}

impl Shape {
    /// The shape of a flow or of a flow's template; none of another kind.
    pub(crate) fn of(document: &Document) -> Option<Self> {
        match subject(&document.value) {
            Subject::Ours(Kind::JobFlow | Kind::JobFlowTemplate) => {}
            Subject::Ours(Kind::JobTemplate | Kind::Job) | Subject::LookAlike(_) | Subject::Foreign => {
                return None;
            }
        }
        let mut shape = Self {
            name: document.name().unwrap_or_default().to_owned(),
            ..Self::default()
        };
        let spec = document.value.get("spec").unwrap_or(&Value::Null);
        for (list, read) in [
            ("flows", Entry::of_flows as fn(&Value, FieldPath) -> Option<Entry>),
            ("tasks", Entry::of_tasks),
            ("finally", Entry::of_finally),
        ] {
            let path = FieldPath::root().field("spec").field(list);
            let entries = spec.get(list).and_then(Value::as_array).into_iter().flatten();
            let entries = entries
                .enumerate()
                .filter_map(|(at, entry)| read(entry, path.index(at)));
            shape.entries.extend(entries);
        }
        shape.place_gates();
        Some(shape)
    }

    /// The position of the entry with a name.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.entries.iter().position(|entry| entry.name == name)
    }

    /// Lets the entries of a switch's branches wait for it.
    fn place_gates(&mut self) {
        let branches: Vec<_> = self
            .entries
            .iter()
            .flat_map(|gate| {
                gate.branches
                    .iter()
                    .map(|branch| (gate.name.clone(), branch.clone()))
            })
            .collect();
        for (gate, branch) in branches {
            let Some(entry) = self.entries.iter_mut().find(|entry| entry.name == branch.target) else {
                self.unknown_branches.push((branch.target, branch.path));
                continue;
            };
            entry.waits.push(Wait {
                target: gate,
                path: branch.path,
                label: branch.label,
            });
        }
    }
}
