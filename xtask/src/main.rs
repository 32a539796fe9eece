//! `cargo xtask`: what is done around the source and isn't `cargo` itself.
//!
//! Comes in: arguments. Goes out: on standard output only what a shell may evaluate, all else on standard error.

mod cluster;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Tasks around the source of jobflow.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// A control plane on this machine, as the tests use it: etcd, API server, Kubernetes' controllers
    Cluster(cluster::Arguments),
}

fn main() -> ExitCode {
    if let Some(code) = jobflow_test_volcano::serve_if_asked() {
        return code;
    }
    let Arguments { task } = Arguments::parse();
    let result = match task {
        Task::Cluster(arguments) => cluster::run(arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            tell(&with_causes(&fault));
            ExitCode::FAILURE
        }
    }
}

/// A fault and what led to it, in one text.
fn with_causes(fault: &dyn Error) -> String {
    let mut text = format!("error: {fault}");
    let mut cause = fault.source();
    while let Some(next) = cause {
        text.push_str(&format!("\n  because {next}"));
        cause = next.source();
    }
    text
}

/// Says something to the person at the terminal.
#[expect(clippy::print_stderr, reason = "this is a program for terminals")]
fn tell(text: &str) {
    eprintln!("{text}");
}

/// Writes a line that a shell may evaluate.
#[expect(clippy::print_stdout, reason = "this is a program for terminals")]
fn answer(text: &str) {
    println!("{text}");
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_sound() {
        super::Arguments::command().debug_assert();
    }
}
