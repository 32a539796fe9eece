//! `kubectl jobflow why`: what keeps the entries of a flow from going on, from each to its cause. The record and what lives
//! are looked at with the caller's rights; what may not be looked at is said, and left out.

mod looking;

use std::collections::{BTreeMap, BTreeSet};

use jobflow_core::record::FlowRecord;
use jobflow_core::report::View;
use jobflow_core::{JobKey, NodeId, NodePhase, Time};
use jobflow_k8s::extensions::Extensions;
use jobflow_k8s::fault::Fault;
use jobflow_k8s::parse::{Flow as Parsed, Known, KnownTemplate, parse};
use jobflow_k8s::status::{core_flow_phase, read, with_removed};
use jobflow_k8s::types::JobFlow;
use jobflow_local::runner::{NodeLine, Reasons, Seen};

use crate::arguments::Format;
use crate::arguments::cluster::WhyArguments;
use crate::cluster::Cluster;
use crate::cluster::flow::Flow;
use crate::cluster::live::notes;
use crate::cluster::replay;
use crate::command::why::{named, unwell};
use crate::console::Console;
use crate::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::past::now;
use crate::reasons::{Account, Notes, Place, Scene};
use looking::Looked;

/// Explains one entry, or all that have not ended well.
pub(crate) async fn run(
    arguments: &WhyArguments,
    cluster: &Cluster,
    extensions: &Extensions,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let flow = Flow::find(cluster, &arguments.flow).await?;
    let object = flow.readable()?;
    let mut looked = Looked::default();
    looked.templates(cluster, &flow).await?;
    let parsed = match parsed(object, &looked, extensions) {
        Ok(parsed) => parsed,
        Err(faults) => return unusable(&flow, &faults, arguments.output, console),
    };
    let record = record(&flow, object, &parsed)?;
    looked.jobs(cluster, &flow, &parsed).await?;
    looked.around(cluster, &flow, &parsed, &record).await?;
    let answer = Answer::of(&flow, object, &parsed, &record, &looked);
    answer.tell(arguments, console)?;
    for why in looked.unseen() {
        console.talk(&escape::terminal(&format!("not looked at: {why}")));
        console.talk("\n");
    }
    if let Some(behind) = behind(object) {
        console.talk(&behind);
    }
    Ok(Exit::Succeeded)
}

fn parsed(object: &JobFlow, looked: &Looked, extensions: &Extensions) -> Result<Parsed, Vec<Fault>> {
    let known: BTreeMap<String, KnownTemplate> = looked
        .specs()
        .filter_map(|(name, spec)| Some((name.clone(), KnownTemplate::of(spec)?)))
        .collect();
    let known = Known {
        templates: Some(&known),
        predicates: extensions.predicates(),
    };
    let parsed = parse(object, known)?;
    Ok(match &object.status {
        Some(status) => with_removed(parsed, status),
        None => parsed,
    })
}

fn record(flow: &Flow, object: &JobFlow, parsed: &Parsed) -> Result<FlowRecord, Failure> {
    let name = flow.name();
    let nodes = object.status.as_ref().and_then(|status| status.nodes.as_ref());
    if nodes.is_none() {
        let failure = Failure::could_not_run(format!(
            "no controller of jobflow has looked at flow `{name}` yet"
        ));
        return Err(failure.with_help("see what keeps it from that with: kubectl jobflow doctor"));
    }
    read(object, parsed).map_err(|faults| {
        let words: Vec<String> = faults.iter().map(ToString::to_string).collect();
        Failure::could_not_run(format!("cannot read the record of flow `{name}`")).caused_by(words.join("; "))
    })
}

/// A flow whose spec can't be used waits for an edit, whatever its entries do.
fn unusable(flow: &Flow, faults: &[Fault], format: Format, console: &mut Console) -> Result<Exit, Failure> {
    let errors: Vec<String> = faults
        .iter()
        .filter(|fault| fault.is_error())
        .map(ToString::to_string)
        .collect();
    match format {
        Format::Json => {
            let told = serde_json::json!({
                "flow": flow.name(), "run": flow.uid(), "phase": core_flow_phase(flow.phase()).as_str(), "faults": errors,
            });
            console.data(&escape::json(&told))?;
        }
        Format::Text => {
            let mut lines = vec![
                format!(
                    "{}  {}  {}",
                    flow.name(),
                    core_flow_phase(flow.phase()),
                    flow.uid()
                ),
                "its spec can't be used:".to_owned(),
            ];
            lines.extend(errors.iter().map(|error| format!("  {error}")));
            lines.push("  goes on: when the spec is mended; what runs goes on until then".to_owned());
            let safe: Vec<String> = lines.iter().map(|line| escape::terminal(line) + "\n").collect();
            console.data(&safe.concat())?;
        }
    }
    Ok(Exit::Succeeded)
}

/// That nobody has seen the latest edit.
fn behind(object: &JobFlow) -> Option<String> {
    let generation = object.metadata.generation?;
    let observed = object.status.as_ref()?.observed_generation?;
    (observed < generation)
        .then(|| "no controller has seen the latest edit yet; this is how it stands without it\n".to_owned())
}

/// All that an explanation is made from.
struct Answer<'a> {
    flow: &'a Flow,
    parsed: &'a Parsed,
    seen: Seen,
    reasons: Reasons,
    notes: Notes,
    facts: jobflow_core::FactCache,
    now: Time,
}

impl<'a> Answer<'a> {
    fn of(
        flow: &'a Flow,
        object: &JobFlow,
        parsed: &'a Parsed,
        record: &FlowRecord,
        looked: &Looked,
    ) -> Self {
        let now = Time(now());
        let known = replay::Known {
            object,
            flow: parsed,
            record,
            jobs: looked.views(),
            templates: looked.template_names(),
        };
        let (report, facts) = known.report(now);
        let nodes = (0..parsed.graph.len()).filter_map(|at| u32::try_from(at).ok());
        let seen = Seen {
            flow: flow.name().to_owned(),
            phase: record.phase,
            started: record.start_time.map(|time| time.0),
            finished: record.completion_time.map(|time| time.0),
            at: now.0,
            nodes: nodes
                .map(|at| NodeLine::of(&parsed.graph, record, NodeId(at)))
                .collect(),
            reasons: None,
        };
        Self {
            flow,
            parsed,
            seen,
            notes: noted(parsed, record, looked),
            reasons: Reasons {
                record: record.clone(),
                report,
                shortages: Vec::new(),
            },
            facts,
            now,
        }
    }

    fn tell(&self, arguments: &WhyArguments, console: &mut Console) -> Result<(), Failure> {
        let scene = Scene {
            place: Place::Cluster,
            run: self.flow.uid(),
            in_use: true,
            seen: &self.seen,
            reasons: &self.reasons,
            notes: &self.notes,
            flow: self.parsed,
            view: View {
                graph: &self.parsed.graph,
                policy: &self.parsed.policy,
                record: &self.reasons.record,
                report: &self.reasons.report,
                facts: &self.facts,
                now: self.now,
            },
        };
        let nodes = match &arguments.node {
            Some(name) => vec![named(self.parsed, name)?],
            None => unwell(&scene),
        };
        let accounts: Vec<Account> = nodes.iter().map(|node| scene.account(*node)).collect();
        match arguments.output {
            Format::Json => console.data(&escape::json(&scene.as_json(&accounts))),
            Format::Text => console.data(&scene.text(&accounts, arguments.node.is_some())),
        }
    }
}

fn noted(parsed: &Parsed, record: &FlowRecord, looked: &Looked) -> Notes {
    let nodes = record.nodes.iter();
    nodes
        .filter_map(|(node, record)| {
            let name = &*parsed.graph.entry(node).name;
            let found = notes(name, record, &looked.of(key(node, record.attempt)));
            (!found.is_empty()).then_some((node, found))
        })
        .collect()
}

const fn key(node: NodeId, attempt: u32) -> JobKey {
    JobKey {
        node,
        index: 0,
        attempt,
    }
}

/// The nodes whose Jobs are worth a closer look.
fn open(record: &FlowRecord, phases: &[NodePhase]) -> BTreeSet<JobKey> {
    let nodes = record.nodes.iter();
    nodes
        .filter(|(_, record)| phases.contains(&record.phase()))
        .map(|(node, record)| key(node, record.attempt))
        .collect()
}
