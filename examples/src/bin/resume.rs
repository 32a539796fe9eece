//! A runner that keeps its state in a file: `resume FILE` runs one job, and dies before the next; call it again to go on.
//!
//! The record is written before anything is done. So wherever the program is killed, no job is lost and none runs twice:
//! an intent that the next program finds in the file makes it look for the job first.

#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs, io};

use jobflow_core::facts::{Answer, FactKey, TemplateVersion};
use jobflow_core::gang::JobPhase;
use jobflow_core::graph::Entry;
use jobflow_core::plan::{Effect, plan_with_answers};
use jobflow_core::snapshot::{JobView, Ledger, Sighting};
use jobflow_core::{FactCache, FlowGraph, FlowRecord, Policy, Snapshot, Time, Uid};

fn main() -> Result<(), Box<dyn Error>> {
    let file = PathBuf::from(env::args_os().nth(1).ok_or("usage: resume FILE")?);
    let graph = FlowGraph::from_names(vec![
        Entry::job("fetch"),
        Entry::job("train").after(["fetch".into()]),
        Entry::job("test").after(["fetch".into()]),
        Entry::job("report").after(["train".into(), "test".into()]),
    ])
    .map_err(|faults| format!("{faults:?}"))?;
    let policy = Policy {
        parallelism: Some(1),
        ..Policy::default()
    };
    let mut facts = FactCache::default();
    let mut snapshot = load(&file, &graph)?;
    let mut has_run = false;
    while !snapshot.record.phase.is_end() {
        let plan = plan_with_answers(&graph, &policy, &snapshot, &mut facts, answer, now());
        save(&file, &plan.next)?;
        snapshot.record = plan.next;
        for effect in plan.effects {
            match effect {
                Effect::MarkBirth => snapshot.ledger = Ledger::Kept,
                Effect::Create { key } if has_run => {
                    println!("killed before {}", graph.entry(key.node).name);
                    return Ok(());
                }
                Effect::Create { key } => {
                    let view = run(&graph.entry(key.node).name)?;
                    snapshot.jobs.insert(key, Sighting::Seen(view));
                    has_run = true;
                }
                Effect::Look { key } => {
                    // What an earlier program started would be looked for here; this one waits for its job, so nothing
                    // can be left of it.
                    let sighting = Sighting::Gone {
                        last: None,
                        at: now(),
                    };
                    snapshot.jobs.insert(key, sighting);
                }
                Effect::LookAtPods { .. }
                | Effect::Terminate { .. }
                | Effect::Delete { .. }
                | Effect::DeleteStray(_)
                | Effect::Reread
                | Effect::DeleteFlow => {}
            }
        }
    }
    println!("the flow: {}", snapshot.record.phase);
    Ok(())
}

/// What is in the file, or a flow that nobody has looked at.
fn load(file: &Path, graph: &FlowGraph) -> Result<Snapshot, Box<dyn Error>> {
    let text = match fs::read(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Snapshot::unborn(graph.len())),
        Err(error) => return Err(error.into()),
    };
    Ok(Snapshot {
        record: serde_json::from_slice(&text)?,
        ledger: Ledger::Kept,
        ..Snapshot::default()
    })
}

/// Replaces the file as a whole: it is never half-written.
fn save(file: &Path, record: &FlowRecord) -> Result<(), Box<dyn Error>> {
    let new = file.with_extension("new");
    fs::write(&new, serde_json::to_vec_pretty(record)?)?;
    Ok(fs::rename(&new, file)?)
}

/// Runs a job to its end.
fn run(name: &str) -> Result<JobView, Box<dyn Error>> {
    let created = now();
    let mut child = Command::new("echo").arg(name).spawn()?;
    let uid = Uid::from(&*child.id().to_string());
    let phase = match child.wait()?.success() {
        true => JobPhase::Completed,
        false => JobPhase::Failed,
    };
    Ok(JobView::new(uid, phase, created))
}

/// There are no templates, and every job can be built.
fn answer(question: &FactKey) -> Option<Answer> {
    let is_template = matches!(question, FactKey::Template(_));
    Some(if is_template {
        Answer::Template(TemplateVersion::default())
    } else {
        Answer::Rendered(0)
    })
}

fn now() -> Time {
    let since_1970 = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    Time(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX))
}
