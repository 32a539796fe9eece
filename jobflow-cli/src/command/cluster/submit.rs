//! `kubectl jobflow submit`: a flow under a new name. The name is made here: whatever becomes of the answer, what was
//! asked for is known, and asking again starts nothing twice.

use std::fs::File;
use std::io::{self, Read};

use jobflow_k8s::fault::closest;
use jobflow_k8s::yaml::Document;
use serde_json::{Map, Value};

use super::apply::{Sending, refuse};
use super::wait::{Wait, wait};
use crate::arguments::cluster::{Awaited, Connection, NameFormat, SubmitArguments};
use crate::cluster::sending::misaddressed;
use jobflow_k8s::extensions::Extensions;

use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::manifests::Manifests;

/// Letters that are hard to mistake for others, and make no words.
const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
/// As many as the server adds to a `generateName`.
const LETTERS_OF_NAME: usize = 5;

/// Starts a flow.
pub(crate) async fn run(
    arguments: &SubmitArguments,
    connection: &Connection,
    extensions: &Extensions,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let mut manifests = Manifests::read(&arguments.manifests)?;
    let chosen = chosen(&manifests.documents, arguments.flow.as_deref())?;
    let suffix = suffix().map_err(|error| Failure::could_not_run("cannot make a name").because(&error))?;
    let name = manifests
        .documents
        .get_mut(chosen)
        .map(|document| renamed(document, &suffix))
        .unwrap_or_default();
    manifests.check(extensions);
    let misplaced = misaddressed(&manifests.documents, connection.namespace.as_deref());
    manifests.add(misplaced);
    refuse(&manifests, console)?;
    let wanted: Vec<usize> = manifests
        .documents
        .iter()
        .enumerate()
        .filter(|(at, document)| *at == chosen || !is_flow(document))
        .map(|(at, _)| at)
        .collect();
    let namespace = manifests.documents.get(chosen).and_then(namespace);
    let sending = Sending {
        dry_run: arguments.dry_run,
        force: arguments.force_conflicts,
        output: Some(arguments.output).filter(|output| *output == NameFormat::Text),
    };
    let cluster = sending.send(&mut manifests, &wanted, connection, console).await?;
    if arguments.output == NameFormat::Name {
        console.data(&format!("jobflow.flow.volcano.sh/{name}\n"))?;
    }
    let Some(mut cluster) = cluster.filter(|_| arguments.wait) else {
        return Ok(Exit::Succeeded);
    };
    console.flush()?;
    cluster.namespace = namespace.unwrap_or(cluster.namespace);
    let wanted = Wait {
        flow: &name,
        uid: None,
        awaited: Awaited::End,
        timeout: arguments.timeout,
    };
    wait(&wanted, &cluster, console).await
}

fn is_flow(document: &Document) -> bool {
    document.kind() == Some("JobFlow")
}

fn namespace(document: &Document) -> Option<String> {
    document
        .value
        .pointer("/metadata/namespace")
        .and_then(Value::as_str)
        .map(str::to_owned)
}

/// The name that a flow has, or the beginning of the one that it would get.
fn base(document: &Document) -> &str {
    let generated = document
        .value
        .pointer("/metadata/generateName")
        .and_then(Value::as_str);
    let generated = generated.map(|text| text.strip_suffix('-').unwrap_or(text));
    document.name().or(generated).unwrap_or_default()
}

/// The place of the flow that is meant.
fn chosen(documents: &[Document], wanted: Option<&str>) -> Result<usize, Failure> {
    let flows: Vec<(usize, &str)> = documents
        .iter()
        .enumerate()
        .filter(|(_, document)| is_flow(document))
        .map(|(at, document)| (at, base(document)))
        .collect();
    let names = || flows.iter().map(|(_, name)| *name);
    match (wanted, flows.as_slice()) {
        (_, []) => Err(Failure::wrong_input("the manifests hold no flow")),
        (None, [(at, _)]) => Ok(*at),
        (None, _) => {
            let names: Vec<&str> = names().collect();
            let failure = Failure::wrong_input("the manifests hold several flows");
            Err(failure.with_help(format!("choose one with --flow: {}", names.join(", "))))
        }
        (Some(wanted), _) => match flows.iter().find(|(_, name)| *name == wanted) {
            Some((at, _)) => Ok(*at),
            None => {
                let failure = Failure::wrong_input(format!("the manifests hold no flow `{wanted}`"));
                Err(match closest(wanted, names()) {
                    Some(near) => failure.with_help(format!("did you mean `{near}`?")),
                    None => failure,
                })
            }
        },
    }
}

/// Gives a flow a new name, and takes away what was said to the one it is made after; answers the name.
fn renamed(document: &mut Document, suffix: &str) -> String {
    let name = match base(document) {
        "" => String::new(),
        base => format!("{base}-{suffix}"),
    };
    let Some(object) = document.value.as_object_mut() else {
        return name;
    };
    object.shift_remove("status");
    let metadata = object
        .entry("metadata")
        .or_insert_with(|| Value::Object(Map::new()));
    if let Some(metadata) = metadata.as_object_mut().filter(|_| !name.is_empty()) {
        for bookkeeping in [
            "generateName",
            "uid",
            "resourceVersion",
            "creationTimestamp",
            "managedFields",
            "generation",
        ] {
            metadata.shift_remove(bookkeeping);
        }
        metadata.insert("name".to_owned(), name.clone().into());
    }
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        for said in ["requests", "suspend", "suspendRunning", "cancel"] {
            spec.shift_remove(said);
        }
    }
    name
}

fn suffix() -> io::Result<String> {
    let mut bytes = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(letters(u64::from_le_bytes(bytes)))
}

fn letters(mut number: u64) -> String {
    let base = LETTERS.len() as u64;
    let mut letter = || {
        let at = usize::try_from(number % base).unwrap_or_default();
        number /= base;
        char::from(LETTERS.get(at).copied().unwrap_or(b'x'))
    };
    (0..LETTERS_OF_NAME).map(|_| letter()).collect()
}

#[cfg(test)]
mod tests {
    use jobflow_k8s::yaml;
    use serde_json::json;

    use super::*;

    fn document(text: &str) -> Document {
        yaml::read("a.yaml", text).documents.remove(0)
    }

    #[test]
    fn a_new_flow_begins_without_what_was_said_to_the_old_one() {
        let mut old = document(
            "{kind: JobFlow, metadata: {name: a, uid: x, labels: {l: v}}, status: {state: {}}, \
             spec: {suspend: true, cancel: {}, requests: [{id: r}], parallelism: 2}}",
        );
        assert_eq!(renamed(&mut old, "bcdfg"), "a-bcdfg");
        assert_eq!(
            old.value,
            json!({ "kind": "JobFlow", "metadata": { "labels": { "l": "v" }, "name": "a-bcdfg" }, "spec": { "parallelism": 2 } })
        );
        let mut generated = document("{kind: JobFlow, metadata: {generateName: a-b-}}");
        assert_eq!(renamed(&mut generated, "x"), "a-b-x");
    }

    #[test]
    fn names_are_spread_over_all_letters() {
        assert_eq!(letters(0), "bbbbb");
        assert_eq!(letters(26), "9bbbb");
        assert_ne!(letters(u64::MAX), letters(u64::MAX - 1));
    }
}
