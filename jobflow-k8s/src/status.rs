//! The record of a flow as its status, and back.
//!
//! ```text
//! FlowRecord ── write ──► JobFlowStatus ── the server stores it ──► read ── FlowRecord
//! ```
//!
//! Comes in: what a plan decided, and what is known of Jobs. Goes out: the status to store, bounded in size; and from a
//! stored one the record that decides the same. Law: for every record that a plan produces, `read(write(record))`
//! leads to the same next plan. What can't change any plan is left out, or kept only while there is room.
//! Deliberately absent: network, clock, and any decision.

mod carries;
mod conditions;
mod count;
mod jobs;
mod ledger;
mod level;
mod needs;
mod node;
mod nodes;
mod read;
mod refuse;
mod size;
#[cfg(test)]
mod tests;
mod told;
mod usual;
mod words;
mod write;

pub use carries::carries;
pub use conditions::ConditionType;
pub use ledger::{BIRTH_MARK, is_taken_over, ledger, salvage, with_removed};
pub use read::read;
pub use refuse::{has_started, refused, tells};
pub use size::{MOST_OBJECT_BYTES, TooLarge, base_size, too_large, worst_case};
pub use words::{core_flow_phase, core_phase};
pub use write::{Writing, Written, write};
