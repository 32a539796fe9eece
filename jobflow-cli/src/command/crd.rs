//! `jobflow crd`: what `kubectl apply -f -` installs.

use jobflow_k8s::crd;

use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// Prints all definitions as one text of YAML.
pub(crate) fn run(console: &mut Console) -> Result<Exit, Failure> {
    for (_, definition) in crd::definitions() {
        let text = serde_saphyr::to_string(&definition).map_err(|error| {
            Failure::could_not_run("cannot write the definitions as YAML").because(&error)
        })?;
        console.data("---\n")?;
        console.data(&text)?;
        if !text.ends_with('\n') {
            console.data("\n")?;
        }
    }
    Ok(Exit::Succeeded)
}
