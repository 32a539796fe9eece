//! `jobflow-controller`: runs JobFlows on a Kubernetes cluster.

use std::process::ExitCode;

use jobflow_controller::Extensions;

fn main() -> ExitCode {
    jobflow_controller::run(std::env::args_os(), Extensions::default())
}
