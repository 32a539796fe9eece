//! A drawing for Mermaid.

use std::fmt::Write;

use super::arrows;
use super::layout::label;
use crate::escape;
use crate::shape::{Shape, Work};

/// Writes a flow chart; nodes are called by position, names are labels only.
pub(crate) fn mermaid(shape: &Shape) -> String {
    let mut text = "flowchart TD\n".to_owned();
    for (at, entry) in shape.entries.iter().enumerate() {
        let (open, close) = match entry.work {
            Work::Job => ("[", "]"),
            Work::Flow => ("[[", "]]"),
            Work::Switch => ("{", "}"),
        };
        let _ = writeln!(text, "  n{at}{open}{}{close}", escape::mermaid(&label(entry)));
    }
    for (from, to, wait) in arrows(shape) {
        let _ = match wait.label.is_empty() {
            true => writeln!(text, "  n{from} --> n{to}"),
            false => writeln!(text, "  n{from} -->|{}| n{to}", escape::mermaid(&wait.label)),
        };
    }
    text
}
