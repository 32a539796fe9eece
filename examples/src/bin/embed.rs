//! A runner around `jobflow-core`: it tells the core what it sees, keeps the record that comes back, and acts on it.

#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::collections::BTreeMap;
use std::error::Error;
use std::process::{Child, Command};
use std::time::{Duration, SystemTime};

use jobflow_core::facts::{Answer, FactKey, TemplateVersion};
use jobflow_core::gang::JobPhase;
use jobflow_core::graph::Entry;
use jobflow_core::plan::{Effect, plan_with_answers};
use jobflow_core::snapshot::{JobView, Ledger, Sighting};
use jobflow_core::{FactCache, FlowGraph, JobKey, Policy, Snapshot, Time, Uid};

fn main() -> Result<(), Box<dyn Error>> {
    let graph = FlowGraph::from_names(vec![
        Entry::job("fetch"),
        Entry::job("train").after(["fetch".into()]),
        Entry::job("test").after(["fetch".into()]),
        Entry::job("report").after(["train".into(), "test".into()]),
    ])
    .map_err(|faults| format!("{faults:?}"))?;
    let (policy, mut facts) = (Policy::default(), FactCache::default());
    let mut snapshot = Snapshot::unborn(graph.len());
    let mut children: BTreeMap<JobKey, Child> = BTreeMap::new();
    while !snapshot.record.phase.is_end() {
        look(&mut children, &mut snapshot)?;
        let now = Time(i64::try_from(SystemTime::UNIX_EPOCH.elapsed()?.as_millis())?);
        let plan = plan_with_answers(&graph, &policy, &snapshot, &mut facts, answer, now);
        for change in &plan.changes {
            println!("{}: {}", graph.entry(change.key.node).name, change.to);
        }
        snapshot.record = plan.next; // a runner that may be killed writes it to disk before it goes on
        for effect in plan.effects {
            match effect {
                Effect::MarkBirth => snapshot.ledger = Ledger::Kept,
                Effect::Create { key } => {
                    let child = Command::new("echo").arg(&*graph.entry(key.node).name).spawn()?;
                    let view = JobView::new(Uid::from(&*child.id().to_string()), JobPhase::Running, now);
                    snapshot.jobs.insert(key, Sighting::Seen(view));
                    children.insert(key, child);
                }
                Effect::Terminate { key, .. } | Effect::Delete { key, .. } => {
                    children.get_mut(&key).map_or(Ok(()), Child::kill)?;
                }
                // Nobody else makes jobs here, there are no pods, and the flow is no object.
                Effect::Look { .. }
                | Effect::LookAtPods { .. }
                | Effect::DeleteStray(_)
                | Effect::Reread
                | Effect::DeleteFlow => {}
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    println!("the flow: {}", snapshot.record.phase);
    Ok(())
}

/// Notes which processes have ended, and how.
fn look(children: &mut BTreeMap<JobKey, Child>, snapshot: &mut Snapshot) -> Result<(), Box<dyn Error>> {
    for (key, child) in children {
        if let (Some(Sighting::Seen(view)), Some(status)) = (snapshot.jobs.get_mut(key), child.try_wait()?) {
            view.phase = [JobPhase::Failed, JobPhase::Completed][usize::from(status.success())];
        }
    }
    Ok(())
}

/// There are no templates, and every job can be built.
fn answer(question: &FactKey) -> Option<Answer> {
    let FactKey::Template(_) = question else {
        return Some(Answer::Rendered(0));
    };
    Some(Answer::Template(TemplateVersion::default()))
}
