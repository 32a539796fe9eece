//! `jobflow schema`: JSON Schemas for editors.

use jobflow_k8s::schema::{Schemas, files};

use crate::arguments::{SchemaArguments, SchemaKind};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// Prints the schema of one kind.
pub(crate) fn run(arguments: &SchemaArguments, console: &mut Console) -> Result<Exit, Failure> {
    let [(_, flow), (_, template), (_, flow_template)] = files(&Schemas::new());
    let schema = match arguments.kind {
        SchemaKind::Flow => flow,
        SchemaKind::Template => template,
        SchemaKind::FlowTemplate => flow_template,
    };
    console.data(&format!("{schema:#}\n"))?;
    Ok(Exit::Succeeded)
}
