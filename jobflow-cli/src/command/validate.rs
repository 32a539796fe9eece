//! `jobflow validate`: all that is wrong, at once.

use jobflow_k8s::check::{Subject, subject};
use jobflow_k8s::extensions::Extensions;
use jobflow_k8s::fault::{Fault, Severity};
use serde_json::json;

use crate::arguments::{Format, ValidateArguments};
use crate::console::Console;
use crate::diagnose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::manifests::Manifests;

/// Checks everything that is named; faults are talk, the result is data.
pub(crate) fn run(
    arguments: &ValidateArguments,
    extensions: &Extensions,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let mut manifests = Manifests::read(&arguments.manifests)?;
    manifests.check(extensions);
    match arguments.output {
        Format::Text => tell(&manifests, console)?,
        Format::Json => console.data(&as_json(&manifests))?,
    }
    match manifests.has_errors() {
        true => Err(Failure::Told(Exit::WrongInput)),
        false => Ok(Exit::Succeeded),
    }
}

fn tell(manifests: &Manifests, console: &mut Console) -> Result<(), Failure> {
    diagnose::tell(manifests, console);
    let counts = counts(manifests);
    match manifests.has_errors() {
        true => console.talk(&format!("not valid: {counts}\n")),
        false => console.data(&format!("valid: {counts}\n"))?,
    }
    Ok(())
}

/// How much was looked at, and how much is wrong with it.
fn counts(manifests: &Manifests) -> String {
    let ours = ours(manifests);
    let foreign = manifests.documents.len() - ours;
    let of = |severity| {
        manifests
            .faults
            .iter()
            .filter(|fault| fault.severity == severity)
            .count()
    };
    let parts = [
        (ours, "object", true),
        (foreign, "object of another kind", false),
        (of(Severity::Error), "error", false),
        (of(Severity::Warning), "warning", false),
    ];
    let shown = parts
        .into_iter()
        .filter(|(count, _, always)| *always || *count > 0);
    let texts: Vec<String> = shown.map(|(count, what, _)| counted(count, what)).collect();
    texts.join(", ")
}

fn counted(count: usize, what: &str) -> String {
    let (noun, rest) = what
        .split_once(' ')
        .map_or((what, String::new()), |(noun, rest)| (noun, format!(" {rest}")));
    match count {
        1 => format!("1 {noun}{rest}"),
        count => format!("{count} {noun}s{rest}"),
    }
}

fn ours(manifests: &Manifests) -> usize {
    let is_ours = |subject: &Subject| match subject {
        Subject::Ours(_) | Subject::LookAlike(_) => true,
        Subject::Foreign => false,
    };
    let subjects = manifests
        .documents
        .iter()
        .map(|document| subject(&document.value));
    subjects.filter(is_ours).count()
}

fn as_json(manifests: &Manifests) -> String {
    let faults: Vec<_> = manifests.faults.iter().map(diagnose::for_programs).collect();
    let errors = manifests
        .faults
        .iter()
        .filter(|fault| Fault::is_error(fault))
        .count();
    let result = json!({
        "valid": errors == 0,
        "objects": ours(manifests),
        "errors": errors,
        "warnings": manifests.faults.len() - errors,
        "faults": faults,
    });
    format!("{result:#}\n")
}
