//! `jobflow plan`: what would start in which order, without starting anything.

mod jobs;
mod shown;

use jobflow_core::NodeId;
use jobflow_k8s::extensions::Extensions;
use jobflow_k8s::fault::Fault;
use jobflow_k8s::parse::Flow;

use crate::arguments::{PlanArguments, PlanFormat};
use crate::console::Console;
use crate::diagnose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::rehearsal::Rehearsal;
use crate::{command::run::input, escape};
use jobs::Jobs;
use shown::Shown;

/// Plays the flow through and shows how it would go; faults are told as `validate` tells them.
pub(crate) fn run(
    arguments: &PlanArguments,
    extensions: &Extensions,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let read = read(arguments, extensions, console)?;
    show(read, arguments, extensions, console)
}

/// Reads and checks what is to be planned.
pub(super) fn read(
    arguments: &PlanArguments,
    extensions: &Extensions,
    console: &mut Console,
) -> Result<input::Read, Failure> {
    input::objects(
        &arguments.manifests,
        arguments.flow.as_deref(),
        extensions,
        console,
    )
}

/// Plans what was read, and shows it.
pub(super) fn show(
    mut read: input::Read,
    arguments: &PlanArguments,
    extensions: &Extensions,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let flow = match read.input.parse(extensions) {
        Ok(flow) => flow,
        Err(faults) => return Err(wrong(&mut read, faults, console)),
    };
    let (jobs, faults) = Jobs::of(&read.input, &flow);
    if faults.iter().any(Fault::is_error) {
        return Err(wrong(&mut read, faults, console));
    }
    for node in jobs.missing() {
        let template = template(&flow, node);
        console.talk(&escape::terminal(&format!(
            "note: `{template}` is not in these manifests: what is known of its job is left out"
        )));
        console.talk("\n");
    }
    let shown = Shown {
        flow: &flow,
        name: read.input.name(),
        rehearsal: Rehearsal::of(&flow, &jobs.tasks()),
        jobs: &jobs,
    };
    let text = match arguments.output {
        PlanFormat::Text if arguments.show_jobs => shown.text() + "\n---\n" + &shown.yaml(),
        PlanFormat::Text => shown.text(),
        PlanFormat::Yaml => shown.yaml(),
        PlanFormat::Json => escape::json(&shown.json()),
    };
    console.data(&text)?;
    Ok(Exit::Succeeded)
}

fn wrong(read: &mut input::Read, faults: Vec<Fault>, console: &mut Console) -> Failure {
    let faults = faults.into_iter().map(|fault| read.flow.place(fault)).collect();
    read.manifests.add(faults);
    diagnose::tell(&read.manifests, console);
    Failure::Told(Exit::WrongInput)
}

/// The template that an entry takes.
fn template(flow: &Flow, node: NodeId) -> &str {
    let entry = &flow.entries[node.position()];
    entry.template.as_deref().unwrap_or(&entry.name)
}
