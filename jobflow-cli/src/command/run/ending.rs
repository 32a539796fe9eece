//! What a run ends with: the output of the entries that nothing waits for, or of those that failed.

use std::io;
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use jobflow_core::record::NodeRecord;
use jobflow_core::{FlowGraph, FlowPhase, FlowRecord, NodeId, NodePhase, Time};

use crate::command::logs::{Attempt, last_lines};
use crate::console::Console;
use crate::escape;
use crate::failure::Failure;

/// The output of so many entries is shown when a flow succeeded.
const MOST_LAST: usize = 5;
/// The output of so many entries is shown when a flow failed.
const MOST_FAILED: usize = 3;

/// How a flow ended, and whose output tells most about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ending {
    succeeded: bool,
    attempts: Vec<Attempt>,
}

impl Ending {
    /// Of a flow that has ended: its last entries, or those that failed, in the order of their ends.
    pub(super) fn of(graph: &FlowGraph, record: &FlowRecord) -> Self {
        let succeeded = record.phase == FlowPhase::Succeed;
        let is_meant = |(node, at): &(NodeId, &NodeRecord)| match succeeded {
            true => graph.dependents(*node).is_empty(),
            false => at.phase() == NodePhase::Failed,
        };
        let mut meant: Vec<_> = record
            .nodes
            .iter()
            .filter(|(node, at)| node.position() < graph.len() && at.attempt > 0 && is_meant(&(*node, at)))
            .collect();
        if !succeeded {
            meant.sort_by_key(|(_, at)| at.finish_time.unwrap_or(Time(i64::MAX)));
        }
        let attempt = |(node, at): (NodeId, &NodeRecord)| Attempt {
            node: node.position(),
            name: graph.entry(node).name.to_string(),
            attempt: at.attempt,
        };
        Self {
            succeeded,
            attempts: meant.into_iter().map(attempt).collect(),
        }
    }

    /// Shows the last lines of each. Output that can't be read changes nothing about how the flow ended.
    pub(super) fn show(&self, run: &str, folder: &Path, console: &mut Console) -> Result<(), Failure> {
        let most = if self.succeeded { MOST_LAST } else { MOST_FAILED };
        let terminal = console.data_is_terminal();
        let mut shown = 0;
        for attempt in &self.attempts {
            let lines = match read(folder, attempt, terminal) {
                Ok(lines) if lines.is_empty() => continue,
                Ok(lines) => lines,
                Err(error) => {
                    let said = format!("cannot read what {} wrote: {error}", attempt.name);
                    console.talk(&(escape::terminal(&said) + "\n"));
                    continue;
                }
            };
            if shown == most {
                console.talk(&format!(
                    "more entries wrote something: jobflow logs {run} ENTRY\n"
                ));
                break;
            }
            shown += 1;
            self.show_one(run, attempt, &lines, console)?;
        }
        Ok(())
    }

    fn show_one(
        &self,
        run: &str,
        attempt: &Attempt,
        lines: &[u8],
        console: &mut Console,
    ) -> Result<(), Failure> {
        let name = escape::terminal(&attempt.name);
        console.data(&format!("\n{name}:\n"))?;
        console.bytes(lines)?;
        if !self.succeeded {
            console.talk(&format!("all that {name} wrote: jobflow logs {run} {name}\n"));
        }
        Ok(())
    }
}

fn read(folder: &Path, attempt: &Attempt, terminal: bool) -> io::Result<Vec<u8>> {
    let folder = Dir::open_ambient_dir(folder, ambient_authority())?;
    last_lines(&folder, attempt, terminal)
}
