//! Where each value of a document stands: a tree of positions beside the tree of values.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle};

use super::split::Part;
use crate::fault::{FieldPath, MOST_FAULTS, Position, Segment};

/// Where each value of a document stands. Aliases are not expanded: they point to what they stand for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outline {
    nodes: Arc<Vec<Node>>,
    root: usize,
}

#[derive(Clone, Debug, PartialEq)]
struct Node {
    /// Where the value begins; of an alias, where the alias stands.
    at: Position,
    /// Whether it is the text of a block (`|` or `>`).
    block: bool,
    inside: Inside,
}

#[derive(Clone, Debug, PartialEq)]
enum Inside {
    Nothing,
    List(Vec<usize>),
    Map(BTreeMap<String, Entry>),
    Alias(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    /// Where the key stands.
    key: Position,
    /// Its value.
    value: usize,
}

/// A key that stands twice: the path of its value, the key, and where the second one stands.
pub(super) type Duplicate = (FieldPath, String, Position);

/// The outline of a text that was found to be readable, and its keys that stand twice.
pub(super) fn of(part: &Part<'_>) -> (Outline, Vec<Duplicate>) {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(part.text) {
        let Ok((event, span)) = event else { break };
        let line = u32::try_from(span.start.line()).unwrap_or(u32::MAX);
        let column = u32::try_from(span.start.col())
            .unwrap_or(u32::MAX)
            .saturating_add(1);
        builder.take(&event, part.position(Position { line, column }));
    }
    (
        Outline {
            nodes: Arc::new(builder.nodes),
            root: 0,
        },
        builder.duplicates,
    )
}

impl Outline {
    /// Where the value at `path` stands: its key if it has one; the nearest value above it if it isn't there.
    #[must_use]
    pub fn position(&self, path: &FieldPath) -> Option<Position> {
        let mut node = self.root;
        let mut at = self.nodes.get(node)?.at;
        for segment in path.segments() {
            let Some((position, inner)) = self.step(node, segment) else {
                break;
            };
            at = position;
            node = inner;
        }
        Some(at)
    }

    /// Whether the value at `path` is the text of a block (`|` or `>`).
    #[must_use]
    pub fn is_block(&self, path: &FieldPath) -> bool {
        let mut node = self.root;
        for segment in path.segments() {
            let Some((_, inner)) = self.step(node, segment) else {
                return false;
            };
            node = inner;
        }
        self.resolve(node).is_some_and(|node| node.block)
    }

    /// The outline of the value at `path`.
    #[must_use]
    pub(super) fn inner(&self, path: &FieldPath) -> Self {
        let mut root = self.root;
        for segment in path.segments() {
            let Some((_, inner)) = self.step(root, segment) else {
                break;
            };
            root = inner;
        }
        Self {
            nodes: Arc::clone(&self.nodes),
            root,
        }
    }

    fn resolve(&self, node: usize) -> Option<&Node> {
        let node = self.nodes.get(node)?;
        match node.inside {
            Inside::Alias(target) => self.nodes.get(target),
            Inside::Nothing | Inside::List(_) | Inside::Map(_) => Some(node),
        }
    }

    fn step(&self, node: usize, segment: &Segment) -> Option<(Position, usize)> {
        match (&self.resolve(node)?.inside, segment) {
            (Inside::List(elements), Segment::Index(index)) => {
                let inner = *elements.get(*index)?;
                Some((self.nodes.get(inner)?.at, inner))
            }
            (Inside::Map(entries), Segment::Field(name)) => {
                if let Some(entry) = entries.get(name) {
                    return Some((entry.key, entry.value));
                }
                let merged = entries.get("<<")?;
                self.merged(merged.value, name).map(|inner| (merged.key, inner))
            }
            (Inside::Nothing | Inside::List(_) | Inside::Map(_) | Inside::Alias(_), _) => None,
        }
    }

    /// A key that comes in by a merge, one level deep.
    fn merged(&self, node: usize, name: &str) -> Option<usize> {
        match &self.resolve(node)?.inside {
            Inside::Map(entries) => entries.get(name).map(|entry| entry.value),
            Inside::List(sources) => sources
                .iter()
                .find_map(|source| match &self.resolve(*source)?.inside {
                    Inside::Map(entries) => entries.get(name).map(|entry| entry.value),
                    Inside::Nothing | Inside::List(_) | Inside::Alias(_) => None,
                }),
            Inside::Nothing | Inside::Alias(_) => None,
        }
    }
}

/// Takes events one by one; no recursion, so no depth is too much. The first node is the root.
#[derive(Default)]
struct Builder {
    nodes: Vec<Node>,
    open: Vec<Open>,
    /// What anchors stand for.
    anchors: BTreeMap<usize, usize>,
    duplicates: Vec<Duplicate>,
}

/// A collection that is open.
struct Open {
    node: usize,
    /// The key whose value comes next.
    key: Option<Position>,
    /// The key that came last.
    name: String,
}

impl Builder {
    fn take(&mut self, event: &Event<'_>, at: Position) {
        #[expect(clippy::wildcard_enum_match_arm, reason = "what is no node has no place")]
        match event {
            Event::Scalar(text, style, anchor, _) => {
                if self.is_key(text, at) {
                    return;
                }
                let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                self.add(
                    Node {
                        at,
                        block,
                        inside: Inside::Nothing,
                    },
                    *anchor,
                );
            }
            Event::Alias(anchor) => {
                let target = self.anchors.get(anchor).copied().unwrap_or(usize::MAX);
                if !self.is_key("", at) {
                    self.add(
                        Node {
                            at,
                            block: false,
                            inside: Inside::Alias(target),
                        },
                        0,
                    );
                }
            }
            Event::SequenceStart(_, anchor, _) => self.open(Inside::List(Vec::new()), *anchor, at),
            Event::MappingStart(_, anchor, _) => self.open(Inside::Map(BTreeMap::new()), *anchor, at),
            Event::SequenceEnd | Event::MappingEnd => {
                self.open.pop();
            }
            _ => {}
        }
    }

    /// Takes a scalar as a key, if a mapping waits for one.
    fn is_key(&mut self, text: &str, at: Position) -> bool {
        let Some(open) = self.open.last_mut().filter(|open| open.key.is_none()) else {
            return false;
        };
        let Some(Node {
            inside: Inside::Map(_),
            ..
        }) = self.nodes.get(open.node)
        else {
            return false;
        };
        open.key = Some(at);
        text.clone_into(&mut open.name);
        true
    }

    fn open(&mut self, inside: Inside, anchor: usize, at: Position) {
        let node = self.nodes.len();
        self.add(
            Node {
                at,
                block: false,
                inside,
            },
            anchor,
        );
        self.open.push(Open {
            node,
            key: None,
            name: String::new(),
        });
    }

    fn add(&mut self, node: Node, anchor: usize) {
        let index = self.nodes.len();
        self.nodes.push(node);
        if anchor > 0 {
            self.anchors.insert(anchor, index);
        }
        let Some(open) = self.open.last_mut() else { return };
        let key = open.key.take();
        match (self.nodes.get_mut(open.node).map(|node| &mut node.inside), key) {
            (Some(Inside::List(elements)), _) => elements.push(index),
            (Some(Inside::Map(entries)), Some(at)) => {
                let again = entries
                    .insert(
                        open.name.clone(),
                        Entry {
                            key: at,
                            value: index,
                        },
                    )
                    .is_some();
                if again && self.duplicates.len() < MOST_FAULTS {
                    let name = open.name.clone();
                    self.duplicates.push((self.path(), name, at));
                }
            }
            (Some(Inside::Map(_) | Inside::Nothing | Inside::Alias(_)) | None, _) => {}
        }
    }

    /// The path of the value that came last.
    fn path(&self) -> FieldPath {
        let mut path = FieldPath::root();
        for open in &self.open {
            match self.nodes.get(open.node).map(|node| &node.inside) {
                Some(Inside::List(elements)) => path.push(Segment::Index(elements.len().saturating_sub(1))),
                Some(Inside::Map(_)) => path.push(Segment::Field(open.name.clone())),
                Some(Inside::Nothing | Inside::Alias(_)) | None => {}
            }
        }
        path
    }
}
