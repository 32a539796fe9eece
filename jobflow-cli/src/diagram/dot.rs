//! A drawing for Graphviz.

use std::fmt::Write;

use super::arrows;
use super::layout::label;
use crate::escape;
use crate::shape::{Shape, Work};

/// Writes a directed graph; nodes are called by position, names are labels only.
pub(crate) fn dot(shape: &Shape) -> String {
    let mut text = format!("digraph {} {{\n", escape::dot(&shape.name));
    text.push_str("  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n");
    for (at, entry) in shape.entries.iter().enumerate() {
        let style = match entry.work {
            Work::Job if entry.finally => ", style=dashed",
            Work::Job => "",
            Work::Flow => ", peripheries=2",
            Work::Switch => ", shape=diamond",
        };
        let _ = writeln!(text, "  n{at} [label={}{style}];", escape::dot(&label(entry)));
    }
    for (from, to, wait) in arrows(shape) {
        let _ = match wait.label.is_empty() {
            true => writeln!(text, "  n{from} -> n{to};"),
            false => writeln!(text, "  n{from} -> n{to} [label={}];", escape::dot(&wait.label)),
        };
    }
    text + "}\n"
}
