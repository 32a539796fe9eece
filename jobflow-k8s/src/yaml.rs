//! The one way in for texts: YAML and JSON, many documents in one text, every place known.
//!
//! Comes in: a text and its name. Goes out: [`Document`]s whose values keep the order of their author, and every fault
//! of the text, each document for itself. Read as kubectl reads: `yes` is true, `0644` is 420, `1_000` is 1000.
//! Deliberately absent: files and folders (a text is handed in), and any knowledge of kinds.

mod build;
mod document;
mod outline;
mod placeholder;
mod split;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::fault::{Code, Fault, FieldPath, MOST_FAULTS, Position};
pub use document::{Document, ObjectKey};
pub use outline::Outline;
pub use placeholder::Dialect;

/// The largest document that is read.
pub const MOST_BYTES: usize = 16 << 20;
/// The deepest nesting that is read.
pub const MOST_DEPTH: usize = 64;

/// The documents of a text, and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The documents that could be read, in the order of the text; a `List` gives its items.
    pub documents: Vec<Document>,
    /// What is wrong, in the order of the text.
    pub faults: Vec<Fault>,
}

/// How every text is read: numbers and booleans as kubectl, within a tight budget.
#[must_use]
pub fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        legacy_octal_numbers: true,
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::PassThrough,
        with_snippet: false,
        emit_comments: false,
        budget: serde_saphyr::budget! {
            max_reader_input_bytes: Some(MOST_BYTES),
            max_events: 1_500_000,
            max_nodes: 500_000,
            max_depth: MOST_DEPTH,
            max_documents: 1,
            max_aliases: 1_000,
            max_anchors: 1_000,
            max_merge_keys: 1_000,
            max_recorded_anchor_events: 200_000,
            max_recorded_anchor_bytes: 4 << 20,
            max_total_scalar_bytes: MOST_BYTES,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 200_000,
            max_replay_stack_depth: 8,
        },
    }
}

/// Reads all documents of a text; `name` is what faults call it, such as a file's path.
///
/// A fault in one document hides nothing of the others. Documents without content are left out.
///
/// ```
/// let reading = jobflow_k8s::yaml::read("flow.yaml", "kind: JobFlow\nmetadata: {name: a}\n---\n");
/// assert_eq!(reading.documents.len(), 1);
/// assert!(reading.faults.is_empty());
/// ```
#[must_use]
pub fn read(name: &str, text: &str) -> Reading {
    let source: Arc<str> = name.into();
    let text: Arc<str> = text.into();
    let mut reading = Reading::default();
    for part in split::documents(&text) {
        if reading.faults.len() >= MOST_FAULTS {
            break;
        }
        read_part(&source, &text, &part, &mut reading);
    }
    reading.faults.extend(duplicate_objects(&reading.documents));
    reading
}

/// Faults of objects of the same kind and name.
#[must_use]
pub fn duplicate_objects(documents: &[Document]) -> Vec<Fault> {
    let mut seen: BTreeMap<ObjectKey, &Document> = BTreeMap::new();
    let mut faults = Vec::new();
    for document in documents {
        let Some(key) = document.key() else { continue };
        let Some(first) = seen.get(&key) else {
            seen.insert(key, document);
            continue;
        };
        let name = FieldPath::root().field("metadata").field("name");
        let fault = Fault::error(Code::DuplicateObject, name.clone(), format!("{key} stands twice"));
        let help = match first.place(&name) {
            Some(place) => format!("the first is at {place}"),
            None => "take one of them away".to_owned(),
        };
        faults.push(document.with_place(fault.with_help(help)));
    }
    faults
}

fn read_part(source: &Arc<str>, text: &Arc<str>, part: &split::Part<'_>, reading: &mut Reading) {
    let place = |fault: Fault, position| fault.with_place(source, position);
    if part.text.len() > MOST_BYTES {
        let message = format!(
            "a document of {} bytes; at most {MOST_BYTES} are read",
            part.text.len()
        );
        let fault = Fault::error(Code::TooLarge, FieldPath::root(), message);
        reading.faults.push(place(fault, part.start()));
        return;
    }
    let value = match build::value(part.text) {
        Ok(Value::Null) => return,
        Ok(value) => value,
        Err(error) => {
            let position = part.position(error.position.unwrap_or(Position { line: 1, column: 1 }));
            let found = placeholder::in_text(part.text).map(|(at, dialect)| (part.position(at), dialect));
            let fault = match found {
                Some((_, dialect)) => dialect.fault(FieldPath::root()),
                None => syntax_fault(error.code, error.message, text, position),
            };
            reading
                .faults
                .push(place(fault, found.map_or(position, |(at, _)| at)));
            return;
        }
    };
    let (outline, duplicates) = outline::of(part);
    for (path, key, position) in duplicates {
        let fault = Fault::error(Code::DuplicateKey, path, format!("the key `{key}` stands twice"))
            .with_help("kubectl would silently take the last one; keep one of them");
        reading.faults.push(place(fault, position));
    }
    let index = reading.documents.len();
    let document = Document::new(Arc::clone(source), Arc::clone(text), index, value, outline);
    document.flatten_into(&mut reading.documents);
}

fn syntax_fault(code: Code, message: String, text: &str, position: Position) -> Fault {
    let line = position.line.saturating_sub(1) as usize;
    let line = text.lines().nth(line).unwrap_or_default();
    let fault = Fault::error(code, FieldPath::root(), message);
    if line.trim_start().starts_with("//") {
        return fault.with_help("`//` begins no comment in YAML; use `#`");
    }
    if line.contains('\t') {
        return fault.with_help("a tab can't indent YAML; use spaces");
    }
    fault
}

#[cfg(test)]
mod tests;
