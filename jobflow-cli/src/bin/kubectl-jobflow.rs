//! `kubectl jobflow`: flows on a cluster.

use std::process::ExitCode;

fn main() -> ExitCode {
    jobflow_cli::run(std::env::args_os())
}
