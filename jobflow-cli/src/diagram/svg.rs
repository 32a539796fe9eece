//! A picture: the layout of the text drawing, with real boxes and lines.

use std::fmt::Write;

use ascii_dag::ir::{EdgePath, LayoutEdge, LayoutIR, NodeKind};

use super::layout::Labels;
use crate::escape;
use crate::shape::{Shape, Work};

/// A cell of characters in pixels.
const CELL: (usize, usize) = (9, 20);
/// The space around everything.
const MARGIN: usize = 10;

const STYLE: &str = "\
text{font:13px ui-monospace,monospace;text-anchor:middle;fill:#1f2328}\
rect{fill:#fff;stroke:#57606a}\
.switch{fill:#fff8c5}.flow{fill:#ddf4ff}.finally{stroke-dasharray:4 3}\
path{fill:none;stroke:#57606a}marker path{fill:#57606a;stroke:none}\
.label{font-size:11px;fill:#57606a}";

/// Writes a picture without scripts, links or anything from elsewhere.
pub(crate) fn svg(shape: &Shape) -> String {
    let labels = Labels::of(shape);
    let layout = labels.layout();
    let (width, height) = (
        layout.width() * CELL.0 + 2 * MARGIN,
        layout.height() * CELL.1 + 2 * MARGIN,
    );
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n",
        escape::svg(&shape.name)
    );
    text.push_str(
        "<marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path d=\"M0 0 8 4 0 8z\"/></marker>\n",
    );
    layout.edges().iter().for_each(|edge| line(&mut text, edge));
    boxes(&mut text, &layout, shape);
    text + "</svg>\n"
}

fn boxes(text: &mut String, layout: &LayoutIR<'_>, shape: &Shape) {
    for node in layout.nodes() {
        let Some(entry) = shape
            .entries
            .get(node.id)
            .filter(|_| node.kind != NodeKind::Dummy)
        else {
            continue;
        };
        let class = match entry.work {
            Work::Job if entry.finally => "finally",
            Work::Job => "job",
            Work::Flow => "flow",
            Work::Switch => "switch",
        };
        let (x, y) = (node.x * CELL.0 + MARGIN, node.y * CELL.1 + MARGIN);
        let (width, height) = (node.width * CELL.0, node.height.max(1) * CELL.1);
        let _ = writeln!(
            text,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"4\"/>\
             <text x=\"{}\" y=\"{}\">{}</text>",
            x + width / 2,
            y + height / 2 + 5,
            escape::svg(node.label)
        );
    }
}

fn line(text: &mut String, edge: &LayoutEdge<'_>) {
    let (from, to) = ((edge.from_x, edge.from_y), (edge.to_x, edge.to_y));
    let mut cells = Vec::new();
    match &edge.path {
        EdgePath::Direct => {}
        EdgePath::Corner { bend_at } => cells.extend([(from.0, *bend_at), (to.0, *bend_at)]),
        EdgePath::SideChannel {
            channel_at,
            span_start,
            span_end,
        } => cells.extend([
            (from.0, *span_start),
            (*channel_at, *span_start),
            (*channel_at, *span_end),
            (to.0, *span_end),
        ]),
        EdgePath::MultiSegment { waypoints, .. } => cells.extend(waypoints),
        EdgePath::Orthogonal { bends } => cells.extend(bends),
        // What a later version adds is drawn straight.
        EdgePath::Spline { .. } | _ => {}
    }
    let start = middle((from.0, from.1.saturating_sub(1)), CELL.1 / 2);
    let _ = write!(
        text,
        "<path marker-end=\"url(#arrow)\" d=\"M{} {}",
        start.0, start.1
    );
    for cell in cells {
        let (x, y) = middle(cell, 0);
        let _ = write!(text, " L{x} {y}");
    }
    let (x, y) = middle(to, 0);
    let _ = writeln!(text, " L{x} {}\"/>", y.saturating_sub(CELL.1 / 2));
    if let Some(label) = edge.label {
        let (x, y) = middle((edge.label_x, edge.label_y), 4);
        let x = x + label.chars().count() * CELL.0 / 2;
        let _ = writeln!(
            text,
            "<text class=\"label\" x=\"{x}\" y=\"{y}\">{}</text>",
            escape::svg(label)
        );
    }
}

/// The middle of a cell, so many pixels lower.
fn middle((x, y): (usize, usize), lower: usize) -> (usize, usize) {
    (
        x * CELL.0 + CELL.0 / 2 + MARGIN,
        y * CELL.1 + CELL.1 / 2 + MARGIN + lower,
    )
}
