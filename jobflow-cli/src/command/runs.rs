//! `jobflow runs`: what there is of earlier runs, and removing it.

use jobflow_local::rundir::{PrunePolicy, RunEntry, prunable};
use serde_json::json;

use crate::arguments::{Format, PruneArguments, RunsCommand};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::past::{Past, now, refused};
use crate::table::{span, table};

/// Lists or removes runs.
pub(crate) fn run(command: &RunsCommand, console: &mut Console) -> Result<Exit, Failure> {
    match command {
        RunsCommand::List { output } => list(*output, console),
        RunsCommand::Prune(arguments) => prune(arguments, console),
    }
}

fn list(output: Format, console: &mut Console) -> Result<Exit, Failure> {
    let past = Past::look()?;
    match output {
        Format::Json => {
            let runs: Vec<_> = past.entries.iter().map(as_json).collect();
            console.data(&format!("{:#}\n", json!(runs)))?;
        }
        Format::Text if past.entries.is_empty() => console.talk("no runs\n"),
        Format::Text => console.data(&rows(&past.entries, now()))?,
    }
    Ok(Exit::Succeeded)
}

fn rows(entries: &[RunEntry], now: i64) -> String {
    let head = ["RUN", "FLOW", "AGE", "IN USE"].map(str::to_owned).to_vec();
    let row = |RunEntry { record, in_use }: &RunEntry| {
        vec![
            record.id.to_string(),
            record.flow.clone(),
            span(now.saturating_sub(record.created)),
            if *in_use { "yes" } else { "no" }.to_owned(),
        ]
    };
    let rows: Vec<_> = std::iter::once(head).chain(entries.iter().map(row)).collect();
    table(&rows)
}

fn as_json(RunEntry { record, in_use }: &RunEntry) -> serde_json::Value {
    json!({ "run": record.id, "flow": record.flow, "created": record.created, "inUse": in_use })
}

fn prune(arguments: &PruneArguments, console: &mut Console) -> Result<Exit, Failure> {
    let PruneArguments {
        keep,
        older_than,
        dry_run,
    } = arguments;
    let past = Past::look()?;
    let policy = PrunePolicy {
        keep: *keep,
        before: older_than.map(|age| now().saturating_sub(age)),
    };
    let mut exit = Exit::Succeeded;
    for id in prunable(&past.entries, policy) {
        if *dry_run {
            console.data(&format!("{id}\n"))?;
            continue;
        }
        match past.root.remove(&id, &past.identity) {
            Ok(()) => console.data(&format!("{id}\n"))?,
            Err(error) => {
                // The others can go nonetheless.
                if let Failure::Said(said) = refused(&error) {
                    console.complain(&said);
                }
                exit = Exit::CouldNotRun;
            }
        }
    }
    Ok(exit)
}
