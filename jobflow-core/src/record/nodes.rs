//! The records of all nodes, shared between a record and the one planned from it, so that a plan copies only what it
//! changes.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Index;

use super::NodeRecord;
use crate::key::NodeId;

/// How many records are copied together.
const CHUNK: usize = 32;

/// A record a node. Cloning copies a pointer for every 32 of them.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    chunks: Vec<Arc<[NodeRecord]>>,
    len: usize,
}

impl Nodes {
    /// So many nodes, all waiting.
    #[must_use]
    pub fn waiting(len: usize) -> Self {
        core::iter::repeat_n(NodeRecord::default(), len).collect()
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The records with their nodes, in the order of the entries.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &NodeRecord)> {
        let records = self.chunks.iter().flat_map(|chunk| chunk.iter());
        records
            .enumerate()
            .map(|(position, record)| (crate::graph::node_id(position), record))
    }

    /// The record of a node, if there is such a node.
    #[must_use]
    pub fn get(&self, node: NodeId) -> Option<&NodeRecord> {
        self.chunks
            .get(node.position() / CHUNK)?
            .get(node.position() % CHUNK)
    }

    /// The record of a node, to change it. Copies the records beside it when somebody else holds them.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    pub fn change(&mut self, node: NodeId) -> &mut NodeRecord {
        let chunk = &mut self.chunks[node.position() / CHUNK];
        &mut Arc::make_mut(chunk)[node.position() % CHUNK]
    }

    /// Adds nodes that wait until there are so many.
    pub fn grow(&mut self, len: usize) {
        if len > self.len {
            let missing = core::iter::repeat_n(NodeRecord::default(), len - self.len);
            *self = self
                .iter()
                .map(|(_, record)| record.clone())
                .chain(missing)
                .collect();
        }
    }
}

impl Index<NodeId> for Nodes {
    type Output = NodeRecord;

    fn index(&self, node: NodeId) -> &NodeRecord {
        &self.chunks[node.position() / CHUNK][node.position() % CHUNK]
    }
}

impl FromIterator<NodeRecord> for Nodes {
    fn from_iter<I: IntoIterator<Item = NodeRecord>>(records: I) -> Self {
        let records: Vec<NodeRecord> = records.into_iter().collect();
        Self {
            len: records.len(),
            chunks: records.chunks(CHUNK).map(Arc::from).collect(),
        }
    }
}

impl PartialEq for Nodes {
    fn eq(&self, other: &Self) -> bool {
        let same = |(one, two): (&Arc<[NodeRecord]>, &Arc<[NodeRecord]>)| Arc::ptr_eq(one, two) || one == two;
        self.len == other.len && self.chunks.iter().zip(&other.chunks).all(same)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Nodes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|(_, record)| record))
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Nodes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<NodeRecord>::deserialize(deserializer)?
            .into_iter()
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_leaves_the_record_it_came_from_alone() {
        let before = Nodes::waiting(100);
        let mut after = before.clone();
        after.change(NodeId(40)).attempt = 7;
        assert_eq!((before[NodeId(40)].attempt, after[NodeId(40)].attempt), (0, 7));
        assert!(Arc::ptr_eq(&before.chunks[0], &after.chunks[0]));
        assert_ne!(before, after);
    }

    #[test]
    fn growing_keeps_what_was_there() {
        let mut nodes = Nodes::waiting(3);
        nodes.change(NodeId(2)).attempt = 1;
        nodes.grow(70);
        assert_eq!(
            (nodes.len(), nodes[NodeId(2)].attempt, nodes[NodeId(69)].attempt),
            (70, 1, 0)
        );
    }
}
