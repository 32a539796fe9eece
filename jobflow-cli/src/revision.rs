//! What an edit of a flow changes, and what would become of each change while the flow runs.
//!
//! Comes in: the flow before and after, and where the entries of a run stand. Goes out: changes in the order of the specs.
//! Entries are equal if and only if their hashes are. Deliberately absent: files, streams.

mod fate;
mod fields;

use std::collections::BTreeMap;

use jobflow_core::NodePhase;
use jobflow_k8s::types::{Entry, JobFlow, JobTemplate};
use serde_json::Value;

pub(crate) use fate::{Fate, Progress};
pub(crate) use fields::fields;

/// All that differs between two flows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Revision {
    /// Of the flow itself: everything but its entries.
    pub(crate) settings: Option<Change>,
    /// Of its entries.
    pub(crate) entries: Vec<Change>,
    /// Of templates.
    pub(crate) templates: Vec<Change>,
}

/// One thing that differs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    /// Its name.
    pub(crate) name: String,
    /// What it was; none if it is new.
    pub(crate) old: Option<Value>,
    /// What it is; none if it is gone.
    pub(crate) new: Option<Value>,
    /// What becomes of it.
    pub(crate) fate: Fate,
}

/// A flow with the templates that come with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side<'a> {
    pub(crate) flow: &'a JobFlow,
    pub(crate) templates: &'a BTreeMap<String, JobTemplate>,
}

impl Revision {
    /// Compares two flows.
    pub(crate) fn of(old: Side<'_>, new: Side<'_>, progress: &Progress) -> Self {
        let settings = [settings(old.flow), settings(new.flow)];
        let name = new.flow.metadata.name.clone().unwrap_or_default();
        let [before, after] = settings;
        Self {
            settings: (before != after).then(|| Change {
                name,
                old: Some(before),
                new: Some(after),
                fate: Fate::Follows,
            }),
            entries: changes(&entries(old.flow), &entries(new.flow), |name, kind| {
                progress.fate(name, kind)
            }),
            templates: changes(&templates(old), &templates(new), |_, _| Fate::ReadAnew),
        }
    }

    /// Whether nothing differs.
    pub(crate) fn is_empty(&self) -> bool {
        self.settings.is_none() && self.entries.is_empty() && self.templates.is_empty()
    }
}

/// How something differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It is another.
    Changed,
}

impl Change {
    /// How it differs.
    pub(crate) const fn kind(&self) -> Kind {
        match (&self.old, &self.new) {
            (None, _) => Kind::Added,
            (Some(_), None) => Kind::Removed,
            (Some(_), Some(_)) => Kind::Changed,
        }
    }
}

type Named = Vec<(String, Value)>;

/// The differences of two lists by name: what is in the new one in its order, then what is gone.
fn changes(old: &Named, new: &Named, fate: impl Fn(&str, Kind) -> Fate) -> Vec<Change> {
    let find = |list: &Named, name: &str| {
        list.iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.clone())
    };
    let names = new
        .iter()
        .chain(old.iter().filter(|(name, _)| find(new, name).is_none()));
    let change = |(name, _): &(String, Value)| {
        let mut change = Change {
            name: name.clone(),
            old: find(old, name),
            new: find(new, name),
            fate: Fate::Follows,
        };
        change.fate = fate(name, change.kind());
        (change.old != change.new).then_some(change)
    };
    names.filter_map(change).collect()
}

/// The entries by name; where one stands is a part of it.
fn entries(flow: &JobFlow) -> Named {
    let of = |list: &Option<Vec<Entry>>, finally: bool| {
        let entries = list.iter().flatten();
        let value = |entry: &Entry| {
            let mut value = serde_json::to_value(entry).unwrap_or_default();
            if let (Value::Object(fields), true) = (&mut value, finally) {
                fields.insert("finally".to_owned(), true.into());
            }
            (entry.name.clone(), value)
        };
        entries.map(value).collect::<Named>()
    };
    let mut all = of(&flow.spec.flows, false);
    all.extend(of(&flow.spec.finally, true));
    all
}

fn templates(side: Side<'_>) -> Named {
    let templates = side.templates.iter();
    templates
        .map(|(name, template)| (name.clone(), Value::Object(template.spec.0.clone())))
        .collect()
}

fn settings(flow: &JobFlow) -> Value {
    let mut spec = flow.spec.clone();
    spec.flows = None;
    spec.finally = None;
    serde_json::to_value(spec).unwrap_or_default()
}

/// Where an entry of a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) phase: NodePhase,
    pub(crate) attempt: u32,
}

#[cfg(test)]
mod tests;
