//! The status as Volcano writes it: lists of Jobs by phase, from our records, the current attempt only.
//!
//! At most 100 jobs are listed: live ones, then those that didn't end well, then the newest ends.

mod lines;
mod rows;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jobflow_core::key::JobKey;

use crate::observe::SlimJob;
use crate::types::{JobConditionEntry, JobFlowStatus, JobStatusEntry};
pub(super) use rows::{Row, rows};

/// The most jobs that the lists hold.
pub(super) const MOST_JOBS: usize = 100;

/// The most phases in the past that are kept of a job.
pub(super) const MOST_HISTORIES: usize = 4;

/// Which jobs are listed, and with how many of their phases in the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) histories: usize,
    /// Whether those that ended well are listed.
    pub(super) all: bool,
}

/// Fills in Volcano's lists.
pub(super) fn list(
    status: &mut JobFlowStatus,
    rows: &[Row],
    jobs: &BTreeMap<JobKey, Arc<SlimJob>>,
    previous: Option<&JobFlowStatus>,
    extent: Extent,
) {
    let before = Before::of(previous);
    let listed = rows::listed(rows, extent.all);
    status.pending_jobs = names(&listed, rows::Class::Pending);
    status.running_jobs = names(&listed, rows::Class::Running);
    status.completed_jobs = names(&listed, rows::Class::Completed);
    status.failed_jobs = names(&listed, rows::Class::Failed);
    status.terminated_jobs = names(&listed, rows::Class::Terminated);
    status.unknown_jobs = names(&listed, rows::Class::Unknown);
    let seen = |row: &Row| jobs.get(&row.key).map(|job| &**job);
    let lines = listed
        .iter()
        .map(|row| lines::line(row, seen(row), before.line(&row.name), extent.histories));
    let conditions = listed.iter().map(|row| {
        let (line, condition) = (before.line(&row.name), before.condition(&row.name));
        (
            row.name.clone(),
            lines::condition(row, seen(row), line, condition),
        )
    });
    status.job_status_list = Some(lines.collect()).filter(|lines: &Vec<_>| !lines.is_empty());
    status.conditions = Some(conditions.collect()).filter(|all: &BTreeMap<_, _>| !all.is_empty());
}

fn names(listed: &[&Row], class: rows::Class) -> Option<Vec<String>> {
    let names: Vec<String> = listed
        .iter()
        .filter(|row| row.class == class)
        .map(|row| row.name.clone())
        .collect();
    (!names.is_empty()).then_some(names)
}

/// What was written before, by the name of the Job: times are written once, and what a Job that is gone told stays.
struct Before<'a> {
    lines: HashMap<&'a str, &'a JobStatusEntry>,
    conditions: Option<&'a BTreeMap<String, JobConditionEntry>>,
}

impl<'a> Before<'a> {
    fn of(previous: Option<&'a JobFlowStatus>) -> Self {
        let lines = previous
            .into_iter()
            .flat_map(|status| status.job_status_list.iter().flatten());
        Self {
            lines: lines
                .filter_map(|line| Some((line.name.as_deref()?, line)))
                .collect(),
            conditions: previous.and_then(|status| status.conditions.as_ref()),
        }
    }

    fn line(&self, name: &str) -> Option<&'a JobStatusEntry> {
        self.lines.get(name).copied()
    }

    fn condition(&self, name: &str) -> Option<&'a JobConditionEntry> {
        self.conditions?.get(name)
    }
}
