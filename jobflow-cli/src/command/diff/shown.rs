//! A revision as text and as an object.

use serde_json::{Value, json};
use similar::TextDiff;

use crate::escape::{terminal, yaml};
use crate::revision::{Change, Kind, Revision, fields};

/// How many equal lines stand around a change.
const CONTEXT: usize = 2;

/// All that is shown of a revision.
pub(super) struct Shown<'a> {
    pub(super) flow: &'a str,
    pub(super) revision: &'a Revision,
}

impl Shown<'_> {
    /// Each change with what becomes of it, its fields, and its lines.
    pub(super) fn text(&self) -> String {
        let Revision {
            settings,
            entries,
            templates,
        } = self.revision;
        if self.revision.is_empty() {
            return terminal(&format!("{}: no differences", self.flow)) + "\n";
        }
        let settings = settings.iter().map(|change| block("flow", change));
        let entries = entries.iter().map(|change| block("entry", change));
        let templates = templates.iter().map(|change| block("template", change));
        let blocks: Vec<String> = settings.chain(entries).chain(templates).collect();
        let pending = self
            .revision
            .entries
            .iter()
            .filter(|change| change.fate.is_pending(change.kind()));
        let pending: Vec<&str> = pending.map(|change| change.name.as_str()).collect();
        let note = match pending.is_empty() {
            true => String::new(),
            false => format!("\nEditPending would name: {}\n", terminal(&pending.join(", "))),
        };
        blocks.join("\n") + &note
    }

    /// The same for programs.
    pub(super) fn json(&self) -> Value {
        let Revision {
            settings,
            entries,
            templates,
        } = self.revision;
        let list = |changes: &[Change]| changes.iter().map(as_json).collect::<Vec<_>>();
        json!({
            "flow": self.flow,
            "equal": self.revision.is_empty(),
            "settings": settings.as_ref().map(as_json),
            "entries": list(entries),
            "templates": list(templates),
        })
    }
}

fn block(what: &str, change: &Change) -> String {
    let (sign, kind) = match change.kind() {
        Kind::Added => ("+", "added"),
        Kind::Removed => ("-", "removed"),
        Kind::Changed => ("~", "changed"),
    };
    let fields = fields(change.old.as_ref(), change.new.as_ref());
    let fields = match fields.is_empty() {
        true => String::new(),
        false => format!(": {}", fields.join(", ")),
    };
    let head = format!("{sign} {what} {} {kind}{fields}", change.name);
    let fate = format!("  {}", change.fate.words(change.kind()));
    format!("{}\n{}\n{}", terminal(&head), terminal(&fate), lines(change))
}

/// The lines that differ, as `diff -u` shows them.
fn lines(change: &Change) -> String {
    let text = |value: &Option<Value>| value.as_ref().map_or_else(String::new, yaml);
    let (old, new) = (text(&change.old), text(&change.new));
    let diff = TextDiff::from_lines(&old, &new);
    let unified = diff.unified_diff().context_radius(CONTEXT).to_string();
    unified.lines().map(|line| format!("    {line}\n")).collect()
}

fn as_json(change: &Change) -> Value {
    let kind = change.kind();
    json!({
        "name": change.name,
        "change": format!("{kind:?}"),
        "fields": fields(change.old.as_ref(), change.new.as_ref()),
        "effect": change.fate.words(kind),
        "editPending": change.fate.is_pending(kind),
        "old": change.old,
        "new": change.new,
    })
}
