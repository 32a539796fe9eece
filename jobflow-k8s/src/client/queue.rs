//! Who is next: namespaces take turns, and within a namespace flows do. Something of a flow that is being worked on
//! waits until that is done; what is asked for twice is done once.
//!
//! Deliberately absent: time, and what is done.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Flows that wait, each in its namespace.
#[derive(Debug, Default)]
pub(super) struct FairQueue {
    /// Namespaces with waiting flows, the next one first.
    turns: VecDeque<String>,
    waiting: BTreeMap<String, VecDeque<String>>,
    queued: BTreeSet<String>,
    running: BTreeSet<String>,
    /// Asked for while running.
    again: BTreeMap<String, String>,
}

impl FairQueue {
    /// Lets a flow wait for its turn.
    pub(super) fn push(&mut self, namespace: &str, flow: &str) {
        if self.running.contains(flow) {
            self.again.insert(flow.to_owned(), namespace.to_owned());
            return;
        }
        if !self.queued.insert(flow.to_owned()) {
            return;
        }
        let waiting = self.waiting.entry(namespace.to_owned()).or_default();
        if waiting.is_empty() {
            self.turns.push_back(namespace.to_owned());
        }
        waiting.push_back(flow.to_owned());
    }

    /// The next flow; it is running until [`Self::done`].
    pub(super) fn pop(&mut self) -> Option<String> {
        let namespace = self.turns.pop_front()?;
        let waiting = self.waiting.get_mut(&namespace)?;
        let flow = waiting.pop_front();
        if waiting.is_empty() {
            self.waiting.remove(&namespace);
        } else {
            self.turns.push_back(namespace);
        }
        let flow = flow?;
        self.queued.remove(&flow);
        self.running.insert(flow.clone());
        Some(flow)
    }

    /// The flow isn't running any more; it waits again if something was asked of it meanwhile.
    pub(super) fn done(&mut self, flow: &str) {
        self.running.remove(flow);
        if let Some(namespace) = self.again.remove(flow) {
            self.push(&namespace, flow);
        }
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.queued.len()
    }
}

/// Things of flows that wait, such as requests: namespaces take turns, then flows, and each flow's come in order.
#[derive(Debug)]
pub(super) struct FairLine<T> {
    order: FairQueue,
    things: BTreeMap<String, (String, VecDeque<T>)>,
    len: usize,
}

impl<T> Default for FairLine<T> {
    fn default() -> Self {
        Self {
            order: FairQueue::default(),
            things: BTreeMap::new(),
            len: 0,
        }
    }
}

impl<T> FairLine<T> {
    /// Lets a thing of a flow wait.
    pub(super) fn push(&mut self, namespace: &str, flow: &str, thing: T) {
        let (_, things) = self
            .things
            .entry(flow.to_owned())
            .or_insert_with(|| (namespace.to_owned(), VecDeque::new()));
        things.push_back(thing);
        self.len += 1;
        self.order.push(namespace, flow);
    }

    /// The next thing.
    pub(super) fn pop(&mut self) -> Option<T> {
        let flow = self.order.pop()?;
        self.order.done(&flow);
        let (namespace, things) = self.things.get_mut(&flow)?;
        let thing = things.pop_front()?;
        self.len -= 1;
        if things.is_empty() {
            self.things.remove(&flow);
        } else {
            self.order.push(namespace, &flow);
        }
        Some(thing)
    }

    /// Whether nothing waits.
    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_of_many_flows_gets_no_more_turns_than_one_of_few() {
        let mut queue = FairQueue::default();
        for flow in ["a1", "a2", "a3"] {
            queue.push("a", flow);
        }
        queue.push("b", "b1");
        queue.push("b", "b1");
        let order: Vec<String> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, ["a1", "b1", "a2", "a3"]);
    }

    #[test]
    fn a_running_flow_waits_again_only_once_it_is_done() {
        let mut queue = FairQueue::default();
        queue.push("a", "f");
        assert_eq!(queue.pop().as_deref(), Some("f"));
        queue.push("a", "f");
        assert_eq!((queue.pop(), queue.len()), (None, 0));
        queue.done("f");
        assert_eq!(queue.pop().as_deref(), Some("f"));
        queue.done("f");
        assert_eq!(queue.pop(), None);
    }

    #[test]
    fn a_flow_of_many_requests_lets_others_through() {
        let mut line = FairLine::default();
        for number in 0..3 {
            line.push("a", "wide", format!("wide {number}"));
        }
        line.push("a", "small", "small".to_owned());
        line.push("b", "other", "other".to_owned());
        let order: Vec<String> = std::iter::from_fn(|| line.pop()).collect();
        assert_eq!(order, ["wide 0", "other", "small", "wide 1", "wide 2"]);
        assert!(line.is_empty());
    }
}
