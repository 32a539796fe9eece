//! From manifests to the objects of a run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jobflow_k8s::check::{Subject, subject};
use jobflow_k8s::extensions::Extensions;
use jobflow_k8s::fault::{Code, Fault, FieldPath, Segment};
use jobflow_k8s::schema::Kind;
use jobflow_k8s::types::{JobFlow, JobTemplate};
use jobflow_k8s::yaml::Document;
use jobflow_local::runner::Input;

use crate::arguments::RunArguments;
use crate::console::Console;
use crate::diagnose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::manifests::Manifests;

/// The objects of a run, and the texts that they come from.
pub(in crate::command) struct Read {
    pub(in crate::command) manifests: Manifests,
    pub(in crate::command) input: Input,
    pub(in crate::command) flow: FlowText,
}

/// The flow as it was written.
pub(in crate::command) struct FlowText(Document);

impl FlowText {
    /// A fault of an entry with its place in the flow's text.
    pub(in crate::command) fn place(&self, fault: Fault) -> Fault {
        let names = fault.path.segments().iter().map(|segment| match segment {
            Segment::Field(name) => name.as_str(),
            Segment::Index(_) => "",
        });
        match names.take(2).collect::<Vec<_>>().as_slice() {
            ["spec", "flows" | "finally"] => self.0.with_place(fault),
            _ => fault,
        }
    }
}

/// Reads and checks the manifests, and takes out what the run needs; faults are told.
pub(super) fn read(
    arguments: &RunArguments,
    extensions: &Extensions,
    console: &mut Console,
) -> Result<Read, Failure> {
    let mut read = objects(
        &arguments.manifests,
        arguments.flow.as_deref(),
        extensions,
        console,
    )?;
    let missing = missing_templates(&read);
    if !missing.is_empty() {
        read.manifests.add(missing);
        diagnose::tell(&read.manifests, console);
        return Err(Failure::Told(Exit::WrongInput));
    }
    let flow = &mut read.input.flow;
    if let Some(name) = &arguments.name {
        flow.metadata.name = Some(name.clone());
    }
    if let Some(most) = arguments.jobs {
        let most = i64::from(most);
        let own = flow.spec.parallelism.unwrap_or(most);
        flow.spec.parallelism = Some(own.min(most));
    }
    Ok(read)
}

/// Reads and checks manifests, and takes out the flow with all that it uses; faults are told.
pub(in crate::command) fn objects(
    names: &[PathBuf],
    flow: Option<&str>,
    extensions: &Extensions,
    console: &mut Console,
) -> Result<Read, Failure> {
    let mut manifests = Manifests::read(names)?;
    manifests.check(extensions);
    diagnose::tell(&manifests, console);
    if manifests.has_errors() {
        return Err(Failure::Told(Exit::WrongInput));
    }
    // What was told once is not told again.
    manifests.faults.clear();
    let (document, flow) = the_flow(&manifests.documents, flow)?;
    let document = document.clone();
    let is_config = |document: &&Document| matches!(document.kind(), Some("ConfigMap" | "Secret"));
    let objects = manifests.documents.iter().filter(is_config);
    let input = Input {
        flow,
        templates: templates(&manifests.documents)?,
        objects: objects.map(|document| document.value.clone()).collect(),
    };
    Ok(Read {
        flow: FlowText(document),
        manifests,
        input,
    })
}

fn the_flow<'a>(documents: &'a [Document], name: Option<&str>) -> Result<(&'a Document, JobFlow), Failure> {
    let flows: Vec<&Document> = of_kind(documents, Kind::JobFlow)
        .filter(|document| name.is_none_or(|name| document.name() == Some(name)))
        .collect();
    let document = match (flows.as_slice(), name) {
        ([document], _) => document,
        ([], None) => {
            return Err(Failure::wrong_input("there is no flow in these manifests")
                .with_help("`jobflow new` writes one to start from"));
        }
        ([], Some(name)) => {
            return Err(Failure::wrong_input(format!(
                "there is no flow `{name}` in these manifests"
            )));
        }
        (several, _) => {
            let names: Vec<&str> = several.iter().filter_map(|document| document.name()).collect();
            let message = format!("there are {} flows in these manifests", several.len());
            let help = format!("choose one with --flow; they hold: {}", names.join(", "));
            return Err(Failure::wrong_input(message).with_help(help));
        }
    };
    Ok((document, typed(document)?))
}

/// Templates that entries take, and that no manifest holds.
fn missing_templates(read: &Read) -> Vec<Fault> {
    let Input { flow, templates, .. } = &read.input;
    let document = &read.flow.0;
    let mut faults = Vec::new();
    for (list, entries) in [("flows", &flow.spec.flows), ("finally", &flow.spec.finally)] {
        for (at, entry) in entries.iter().flatten().enumerate() {
            let name = entry.template.as_ref().unwrap_or(&entry.name);
            if entry.job_spec.is_some() || templates.contains_key(name) {
                continue;
            }
            let field = if entry.template.is_some() {
                "template"
            } else {
                "name"
            };
            let path = FieldPath::root().field("spec").field(list).index(at).field(field);
            let message = format!("entry `{}`: there is no JobTemplate `{name}`", entry.name);
            let fault = Fault::error(Code::UnknownReference, path, message)
                .with_help("name the file that holds it too, or write the job here as `jobSpec`")
                .with_suggestion(name, templates.keys().map(String::as_str));
            faults.push(document.with_place(fault));
        }
    }
    faults
}

fn templates(documents: &[Document]) -> Result<BTreeMap<String, JobTemplate>, Failure> {
    of_kind(documents, Kind::JobTemplate)
        .map(|document| Ok((document.name().unwrap_or_default().to_owned(), typed(document)?)))
        .collect()
}

fn of_kind(documents: &[Document], kind: Kind) -> impl Iterator<Item = &Document> {
    documents
        .iter()
        .filter(move |document| subject(&document.value) == Subject::Ours(kind))
}

/// The object of a document that was found to be one of its kind.
fn typed<T: serde::de::DeserializeOwned>(document: &Document) -> Result<T, Failure> {
    serde_json::from_value(document.value.clone()).map_err(|error| {
        let shown = document
            .key()
            .map_or_else(|| "an object".to_owned(), |key| key.to_string());
        Failure::wrong_input(format!("{}: {shown} can't be read", document.source)).because(&error)
    })
}
