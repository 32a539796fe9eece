//! Between the runner and the display.

use std::path::Path;

use jobflow_core::snapshot::TaskCount;
use jobflow_core::{Change, JobKey, NodeId, Time};
use jobflow_local::rundir::RunId;
use jobflow_local::runner::{Moment, Watcher};

use super::ending::Ending;
use crate::display::{Outcome, Progress};
use crate::failure::Failure;
use crate::standing::{Source, Standing};

/// Hears the runner, and shows what it says.
pub(super) struct Watching<'a> {
    progress: Progress<'a>,
    run: Option<String>,
    ending: Option<Ending>,
}

impl<'a> Watching<'a> {
    /// Hears nothing yet.
    pub(super) const fn new(progress: Progress<'a>) -> Self {
        Self {
            progress,
            run: None,
            ending: None,
        }
    }

    /// Shows the result; returns whose output belongs to it, if the flow was seen to end.
    pub(super) fn ended(self, outcome: Outcome) -> Result<Option<Ending>, Failure> {
        self.progress.ended(outcome)?;
        Ok(self.ending)
    }

    /// Clears the table, and tells how the run can go on when it broke off; nothing before it began.
    pub(super) fn broken_off(mut self) -> Option<String> {
        self.progress.clear();
        let run = self.run?;
        Some(format!(
            "when that is mended, go on with: jobflow run --resume {run}"
        ))
    }

    fn see(&mut self, moment: &Moment<'_>) {
        if moment.record.phase.is_end() {
            self.ending = Some(Ending::of(moment.graph, moment.record));
        }
    }
}

impl Watcher for Watching<'_> {
    fn began(&mut self, run: &RunId, folder: &Path, resumed: bool) {
        self.run = Some(run.to_string());
        let root = rustix::process::geteuid().is_root();
        self.progress.began(run.as_str(), folder, resumed, root);
    }

    fn changed(&mut self, change: &Change, moment: Moment<'_>) {
        self.see(&moment);
        let source = source(&moment);
        let row = || source.row(change.key.node, pods(&moment));
        self.progress.changed(change, row, source.took());
        if moment.record.phase.is_end() {
            // It may be the last that is heard of this run.
            self.progress.see(Standing::of(&source, pods(&moment)));
        }
    }

    fn passed(&mut self, moment: Moment<'_>) {
        self.see(&moment);
        self.progress
            .passed(|| Standing::of(&source(&moment), pods(&moment)));
    }

    fn blocked(&mut self, reason: Option<&str>) {
        self.progress.blocked(reason);
    }
}

fn source<'a>(moment: &Moment<'a>) -> Source<'a> {
    let Moment {
        flow,
        run,
        graph,
        record,
        report,
        host: _,
        now,
    } = *moment;
    Source {
        flow,
        run: run.as_str(),
        graph,
        record,
        report,
        now: Time(now),
    }
}

/// The pods of the jobs that the runner has.
fn pods(moment: &Moment<'_>) -> impl Fn(NodeId, u32) -> Option<Vec<TaskCount>> {
    let host = moment.host;
    move |node, attempt| {
        let key = JobKey {
            node,
            index: 0,
            attempt,
        };
        let view = host.view(key)?;
        Some(view.tasks.to_vec()).filter(|tasks| !tasks.is_empty())
    }
}
