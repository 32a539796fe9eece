//! `jobflow new`: a flow to start from.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use jobflow_k8s::names::{DNS_SUBDOMAIN_RULE, is_dns_subdomain};

use crate::arguments::NewArguments;
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

const STARTER: &str = include_str!("new/starter.yaml");
/// What stands in the starter for the name.
const NAME: &str = "my-flow";
/// Longer names leave no room for those of entries, tasks and replicas.
const MOST_NAME: usize = 40;

/// Writes the flow to a file or to stdout.
pub(crate) fn run(arguments: &NewArguments, console: &mut Console) -> Result<Exit, Failure> {
    let NewArguments { name, output, force } = arguments;
    if !is_dns_subdomain(name) || name.len() > MOST_NAME {
        let message = format!("`{name}` can't be the name of a flow");
        let help = format!("at most {MOST_NAME} characters: {DNS_SUBDOMAIN_RULE}");
        return Err(Failure::wrong_input(message).with_help(help));
    }
    let text = STARTER.replace(NAME, name);
    let Some(path) = output else {
        console.data(&text)?;
        return Ok(Exit::Succeeded);
    };
    write(path, *force, &text).map_err(|error| refusal(path, &error))?;
    let shown = path.display();
    console.talk(&format!("wrote {shown}; run it with: jobflow run {shown}\n"));
    Ok(Exit::Succeeded)
}

fn write(path: &Path, force: bool, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true);
    match force {
        true => options.create(true).truncate(true),
        false => options.create_new(true),
    };
    options.open(path)?.write_all(text.as_bytes())
}

fn refusal(path: &Path, error: &io::Error) -> Failure {
    let shown = path.display();
    if error.kind() == io::ErrorKind::AlreadyExists {
        return Failure::wrong_input(format!("{shown} is there already"))
            .with_help("replace it with --force");
    }
    Failure::could_not_run(format!("cannot write {shown}")).because(error)
}
