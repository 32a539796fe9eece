//! Where everything of a drawing is, in cells of characters.

use ascii_dag::ir::LayoutIR;
use ascii_dag::{Direction, Graph};

use super::arrows;
use crate::escape::replaced;
use crate::shape::{Entry, Shape, Work};

/// Labels of a shape, made harmless, which a layout borrows.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    entries: Vec<String>,
    waits: Vec<(usize, usize, String)>,
}

impl Labels {
    /// Collects them.
    pub(super) fn of(shape: &Shape) -> Self {
        Self {
            entries: shape.entries.iter().map(label).collect(),
            waits: arrows(shape)
                .map(|(from, to, wait)| (from, to, replaced(&wait.label)))
                .collect(),
        }
    }

    /// Lays everything out, from top to bottom.
    pub(super) fn layout(&self) -> LayoutIR<'_> {
        self.layout_towards(Direction::TopDown)
    }

    /// Lays everything out so that it fits into so many columns, if there is a way; else from top to bottom.
    pub(super) fn layout_within(&self, width: usize) -> LayoutIR<'_> {
        let down = self.layout();
        if down.width() <= width {
            return down;
        }
        let right = self.layout_towards(Direction::LeftRight);
        if right.width() <= width { right } else { down }
    }

    fn layout_towards(&self, direction: Direction) -> LayoutIR<'_> {
        let mut graph = Graph::new().with_direction(direction);
        for (at, entry) in self.entries.iter().enumerate() {
            graph.add_node(at, entry.as_str());
        }
        for (from, to, label) in &self.waits {
            graph.add_edge(*from, *to, Some(label.as_str()).filter(|label| !label.is_empty()));
        }
        graph.compute_layout()
    }
}

/// A name with a mark for what isn't a plain job.
pub(super) fn label(entry: &Entry) -> String {
    let mut label = replaced(&entry.name);
    match entry.work {
        Work::Job => {}
        Work::Flow => label.push_str(" (flow)"),
        Work::Switch => label.push_str(" (switch)"),
    }
    if entry.group {
        label.push_str(" (each)");
    }
    if entry.finally {
        label.push_str(" (finally)");
    }
    label
}
