//! From arguments to the settings of a run.

use std::time::Duration;

use jobflow_local::resources::{BadQuantity, Machine, Quantity};
use jobflow_local::runner::Settings;

use crate::arguments::RunArguments;
use crate::failure::Failure;

/// Between SIGTERM and SIGKILL when nothing else is said, as on a cluster.
const GRACE: u32 = 30;

/// The settings that the arguments ask for.
pub(super) fn of(arguments: &RunArguments) -> Result<Settings, Failure> {
    Ok(Settings {
        kit: super::kit::of(arguments)?,
        machine: machine(arguments)?,
        ignore_resources: arguments.ignore_resources,
        grace: Duration::from_secs(u64::from(arguments.grace.unwrap_or(GRACE))),
    })
}

/// What this machine has, but for what the arguments say instead.
fn machine(arguments: &RunArguments) -> Result<Machine, Failure> {
    let mut machine = Machine::of_this_system();
    let cpus = arguments.cpus.as_ref().map(|amount| ("--cpus", "cpu", amount));
    let memory = arguments
        .memory
        .as_ref()
        .map(|amount| ("--memory", "memory", amount));
    let others = arguments
        .resources
        .iter()
        .map(|(name, amount)| ("--resources", name.as_str(), amount));
    for (argument, resource, amount) in cpus.into_iter().chain(memory).chain(others) {
        let quantity = Quantity::parse(amount).map_err(|error| unclear(argument, amount, &error))?;
        machine.set(resource, quantity);
    }
    Ok(machine)
}

fn unclear(argument: &str, amount: &str, error: &BadQuantity) -> Failure {
    Failure::wrong_input(format!("`{amount}` can't be an amount for {argument}"))
        .because(error)
        .with_help("write it as Kubernetes does, such as 4, 500m, 8Gi")
}
