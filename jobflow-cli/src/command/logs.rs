//! `jobflow logs`: what the tasks of a run wrote.

mod ending;
mod files;
mod lines;
mod reading;

use std::thread;
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use jobflow_k8s::fault::closest;
use jobflow_local::rundir::RunEntry;

use crate::arguments::LogsArguments;
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::past::Past;
pub(crate) use ending::{Attempt, last_lines};
use files::{LogFile, Selector};
pub(crate) use lines::Lines;
use reading::Reading;

/// How often a log that grows is looked at.
const INTERVAL: Duration = Duration::from_millis(250);

/// Shows what there is, and with `--follow` what comes.
pub(crate) fn run(arguments: &LogsArguments, console: &mut Console) -> Result<Exit, Failure> {
    let past = Past::look()?;
    let entry = past.choose(arguments.run.as_deref())?;
    let id = entry.record.id.clone();
    let selector: Selector = arguments.of.parse()?;
    let node = node(&past, entry, &selector.node)?;
    let folder = Dir::open_ambient_dir(past.root.path(&id), ambient_authority())
        .map_err(|error| Failure::could_not_run(format!("cannot look into run {id}")).because(&error))?;
    let mut show = Show {
        folder,
        selector,
        node,
        lines: Lines::new(arguments.raw, console.data_is_terminal()),
        readings: Vec::new(),
    };
    let mut any = show.more(console)?;
    while arguments.follow && is_in_use(entry)? {
        thread::sleep(INTERVAL);
        any |= show.more(console)?;
    }
    if arguments.follow {
        // What was written between the last look and the end of the run.
        any |= show.more(console)?;
    }
    show.finish(console)?;
    if !any && show.readings.is_empty() {
        console.talk(&format!(
            "nothing of {} wrote anything in run {id}\n",
            arguments.of
        ));
    }
    Ok(Exit::Succeeded)
}

/// The number of the entry with a name.
fn node(past: &Past, entry: &RunEntry, name: &str) -> Result<usize, Failure> {
    let lines = past.checkpoint(entry)?.nodes;
    let names: Vec<String> = lines.into_iter().map(|line| line.name).collect();
    names.iter().position(|known| known == name).ok_or_else(|| {
        let failure = Failure::wrong_input(format!("run {} has no entry `{name}`", entry.record.id));
        match closest(name, names.iter().map(String::as_str)) {
            Some(near) => failure.with_help(format!("did you mean `{near}`?")),
            None => failure.with_help(format!("it has: {}", names.join(", "))),
        }
    })
}

/// Whether more may come.
fn is_in_use(entry: &RunEntry) -> Result<bool, Failure> {
    let now = Past::look()?;
    Ok(now
        .entries
        .iter()
        .any(|other| other.record.id == entry.record.id && other.in_use))
}

struct Show {
    folder: Dir,
    selector: Selector,
    node: usize,
    lines: Lines,
    readings: Vec<(LogFile, Reading)>,
}

impl Show {
    /// Shows what is new; tells whether there was anything.
    fn more(&mut self, console: &mut Console) -> Result<bool, Failure> {
        let unreadable = |error| Failure::could_not_run("cannot read the logs").because(&error);
        for file in files::find(&self.folder, &self.selector, self.node).map_err(unreadable)? {
            if !self.readings.iter().any(|(known, _)| *known == file) {
                self.readings.push((file, Reading::default()));
            }
        }
        let several = self.readings.len() > 1;
        let mut any = false;
        for (file, reading) in &mut self.readings {
            while let Some(bytes) = reading.next(&self.folder, &file.path).map_err(unreadable)? {
                any = true;
                let label = several.then_some(file.label.as_str());
                console.bytes(&self.lines.show(&file.label, label, &bytes))?;
            }
        }
        console.flush()?;
        Ok(any)
    }

    /// Shows lines that never ended.
    fn finish(&mut self, console: &mut Console) -> Result<(), Failure> {
        console.bytes(&self.lines.rest())
    }
}
