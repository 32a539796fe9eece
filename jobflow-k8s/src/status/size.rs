//! How large a status may become, and what follows from that.
//!
//! A server stores an object of about 1.5 MiB at most, spec, status and managed fields together. A flow whose record
//! can't fit in the worst case is refused before anything of it is started.

use std::io;

use jobflow_core::condition::Condition;
use jobflow_core::graph::Entry;
use serde::Serialize;

use super::jobs::MOST_JOBS;
use super::needs::needs;
use super::nodes::MOST_REMOVED;
use crate::fault::{Code, Fault, FieldPath};
use crate::parse::Flow;
use crate::types::JobFlow;

/// The most bytes that a flow may have with its status; what is left to 1.5 MiB is for fields that the server adds.
pub const MOST_OBJECT_BYTES: usize = 1_400_000;

/// What the server notes beside an entry of the spec, of who owns its fields.
const MANAGED_BYTES: usize = 120;

/// The status without any node: phase, conditions, summary, stops, clocks, what became of requests.
const FRAME_BYTES: usize = 30_000;

/// A job in Volcano's lists, without its name: two lines, with counts of its pods.
const LISTED_BYTES: usize = 420;

/// How often a job's name stands in Volcano's lists.
const LISTED_NAMES: usize = 3;

/// A node that has ended, without names: phase, reason, cause, attempt, digest, time, exit code, evidence.
const ENDED_BYTES: usize = 260;

/// A node with a job, without names: the above, UID, name of the job, stop, clocks, retries, times.
const LIVE_BYTES: usize = 780;

/// What stays of an entry that was removed, with its name.
const REMOVED_BYTES: usize = ENDED_BYTES + 64;

/// Counts of pods, where another entry asks for them.
const COUNTS_BYTES: usize = 1_200;

/// A condition that has held, without the target's name.
const HELD_BYTES: usize = 90;

/// A flow whose status can't be stored, with the numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the flow with its status has {bytes} bytes at its smallest; at most {MOST_OBJECT_BYTES} can be stored"
)]
pub struct TooLarge {
    /// How many bytes the flow has with as little of its status as can be written.
    pub bytes: usize,
}

/// How many bytes of a flow are not its status: metadata and spec, with what the server notes about their fields.
#[must_use]
pub fn base_size(flow: &JobFlow) -> usize {
    let entries = flow
        .spec
        .flows
        .iter()
        .chain(&flow.spec.finally)
        .map(Vec::len)
        .sum::<usize>();
    let managed = if flow.metadata.managed_fields.is_some() {
        0
    } else {
        entries * MANAGED_BYTES
    };
    bytes(&flow.metadata) + bytes(&flow.spec) + managed
}

/// How many bytes the flow may come to have with as little of its status as must be written: all jobs alive that its
/// `parallelism` allows, everything else ended badly.
///
/// A Job with tasks by the dozen, of which another entry asks how many pods are ready, may pass it.
#[must_use]
pub fn worst_case(flow: &JobFlow, parsed: &Flow) -> usize {
    let graph = &parsed.graph;
    let live = parsed
        .policy
        .parallelism
        .map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let longest = graph
        .entries()
        .iter()
        .map(|entry| entry.name.len())
        .max()
        .unwrap_or(0);
    let job = longest + flow.metadata.name.as_ref().map_or(0, String::len);
    let listed = graph.len().min(MOST_JOBS) * (LISTED_BYTES + LISTED_NAMES * job);
    let needs = needs(graph);
    let counted = needs.iter().filter(|need| need.counts || need.all).count();
    let ended: usize = graph
        .entries()
        .iter()
        .map(|entry| ENDED_BYTES + entry.name.len() + longest)
        .sum();
    // A node that waits keeps what has held until it is started, so these count whatever is alive.
    let held: usize = graph
        .entries()
        .iter()
        .map(|entry| fleeting(entry) * (HELD_BYTES + longest))
        .sum();
    let extra = graph.len().min(live) * (LIVE_BYTES - ENDED_BYTES + job);
    let removed = MOST_REMOVED * REMOVED_BYTES;
    base_size(flow) + FRAME_BYTES + removed + listed + ended + held + extra + counted * COUNTS_BYTES
}

/// How many conditions of an entry are kept once they have held.
fn fleeting(entry: &Entry) -> usize {
    let rules = entry.targets.iter().flat_map(|target| target.rules.as_slice());
    rules.filter(|rule| !is_derived(&rule.condition)).count()
}

/// The fault of a flow that can't fit; none if it can.
#[must_use]
pub fn too_large(flow: &JobFlow, parsed: &Flow) -> Option<Fault> {
    let bytes = worst_case(flow, parsed);
    let message = format!(
        "the flow of {} entries may come to have {bytes} bytes with its status; at most {MOST_OBJECT_BYTES} can be \
         stored",
        parsed.graph.len()
    );
    (bytes > MOST_OBJECT_BYTES).then(|| {
        Fault::error(Code::TooLarge, FieldPath::root().field("spec"), message).with_help(
            "set a smaller `parallelism`, use templates in place of inline specs, or cut the flow in two",
        )
    })
}

/// Whether a condition that held can be seen in the target's record later.
fn is_derived(condition: &Condition) -> bool {
    matches!(
        condition,
        Condition::Completed
            | Condition::Started
            | Condition::Running
            | Condition::Failed
            | Condition::Finished
    )
}

/// The budget of the whole object, by the number of entries: what histories may fill.
pub(super) fn budget(entries: usize) -> usize {
    match entries {
        0..=100 => 75_000,
        101..=300 => 75_000 + (entries - 100) * 175,
        301..=1000 => 110_000 + (entries - 300) * 200,
        _ => 250_000 + (entries - 1000) * 200,
    }
}

/// How many bytes a value has as JSON; counted, not kept.
pub(super) fn bytes(value: &impl Serialize) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        Err(_) => usize::MAX / 4,
    }
}
