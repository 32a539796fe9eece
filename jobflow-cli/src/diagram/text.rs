//! A drawing for a terminal.

use ascii_dag::RenderOptions;

use super::layout::Labels;
use crate::console::Charset;
use crate::shape::Shape;

/// Draws with the characters that the terminal has, from left to right where only that fits.
pub(crate) fn text(shape: &Shape, charset: Charset, width: usize) -> String {
    if shape.entries.is_empty() {
        return "(no entries)\n".to_owned();
    }
    let options = match charset {
        Charset::Unicode => RenderOptions::plain(),
        Charset::Ascii => RenderOptions::ascii(),
    };
    let labels = Labels::of(shape);
    let drawn = labels.layout_within(width).render_string(&options);
    let lines: Vec<&str> = drawn.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned() + "\n"
}
