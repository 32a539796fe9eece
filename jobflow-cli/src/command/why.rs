//! `jobflow why`: what keeps the entries of a run from going on, from each to its cause.

use jobflow_core::report::View;
use jobflow_core::{FactCache, NodeId, NodePhase, Time};
use jobflow_k8s::extensions::Extensions;
use jobflow_k8s::fault::closest;
use jobflow_k8s::parse::Flow;
use jobflow_local::rundir::RunEntry;
use jobflow_local::runner::{self, RunError, Seen};

use crate::arguments::{Format, WhyArguments};
use crate::console::Console;
use crate::escape::json;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::past::{Past, now};
use crate::reasons::{Account, Notes, Place, Scene, of_shortages};

/// Explains one entry, or all that have not ended well.
pub(crate) fn run(
    arguments: &WhyArguments,
    extensions: &Extensions,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let past = Past::look()?;
    let entry = past.choose(arguments.run.as_deref())?;
    let seen = past.checkpoint(entry)?;
    let flow = flow(&past, entry, extensions)?;
    // In a run of this machine all is at hand: nothing is asked for.
    let facts = FactCache::default();
    let notes = notes(&seen, &flow);
    let scene = scene(&seen, &flow, (&facts, &notes), entry)?;
    let nodes = match &arguments.node {
        Some(name) => vec![named(&flow, name)?],
        None => unwell(&scene),
    };
    let accounts: Vec<Account> = nodes.iter().map(|node| scene.account(*node)).collect();
    match arguments.output {
        Format::Json => console.data(&json(&scene.as_json(&accounts)))?,
        Format::Text => console.data(&scene.text(&accounts, arguments.node.is_some()))?,
    }
    if !seen.phase.is_end() && !entry.in_use {
        let id = &entry.record.id;
        console.talk(&format!("interrupted; go on with: jobflow run --resume {id}\n"));
    }
    Ok(Exit::Succeeded)
}

/// The flow as the run has it, not as its file is by now.
fn flow(past: &Past, entry: &RunEntry, extensions: &Extensions) -> Result<Flow, Failure> {
    let id = &entry.record.id;
    let input = runner::input(&past.root.path(id));
    let parsed = input.and_then(|input| input.parse(extensions).map_err(RunError::Faults));
    parsed.map_err(|error| {
        Failure::could_not_run(format!("cannot read what run {id} was made from")).because(&error)
    })
}

fn scene<'a>(
    seen: &'a Seen,
    flow: &'a Flow,
    (facts, notes): (&'a FactCache, &'a Notes),
    entry: &'a RunEntry,
) -> Result<Scene<'a>, Failure> {
    let id = &entry.record.id;
    let reasons = seen.reasons.as_ref();
    let reasons = reasons.filter(|reasons| reasons.record.nodes.len() == flow.graph.len());
    let Some(reasons) = reasons else {
        return Err(Failure::could_not_run(format!("run {id} has written no reasons"))
            .with_help(format!("see how it stands with: jobflow status {id}")));
    };
    // Time stands still while nobody decides for the run.
    let at = if entry.in_use { now() } else { seen.at };
    Ok(Scene {
        place: Place::Machine,
        notes,
        run: id.as_str(),
        in_use: entry.in_use,
        seen,
        reasons,
        flow,
        view: View {
            graph: &flow.graph,
            policy: &flow.policy,
            record: &reasons.record,
            report: &reasons.report,
            facts,
            now: Time(at),
        },
    })
}

fn notes(seen: &Seen, flow: &Flow) -> Notes {
    let name = |node: NodeId| flow.graph.entry(node).name.to_string();
    let known = |reasons: &&runner::Reasons| reasons.record.nodes.len() == flow.graph.len();
    let reasons = seen.reasons.as_ref().filter(known);
    reasons.map_or_else(Notes::new, |reasons| of_shortages(reasons, name))
}

/// The node of that name.
pub(super) fn named(flow: &Flow, name: &str) -> Result<NodeId, Failure> {
    let node = flow.graph.find(name);
    node.ok_or_else(|| {
        let failure = Failure::wrong_input(format!("the flow has no entry `{name}`"));
        let names = flow.graph.entries().iter().map(|entry| &*entry.name);
        match closest(name, names) {
            Some(meant) => failure.with_help(format!("did you mean `{meant}`?")),
            None => failure,
        }
    })
}

/// All that have not ended well.
pub(super) fn unwell(scene: &Scene<'_>) -> Vec<NodeId> {
    let nodes = scene.reasons.record.nodes.iter();
    nodes
        .filter(|(_, record)| record.phase() != NodePhase::Succeeded)
        .map(|(node, _)| node)
        .collect()
}
