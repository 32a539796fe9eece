//! `jobflow`: the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    jobflow_cli::run(std::env::args_os())
}
