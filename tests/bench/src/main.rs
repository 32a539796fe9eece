//! Measures the controller on a real API server with the stand-in for Volcano, and prints each figure beside its bound.
//!
//! Comes in: names of scenarios, or none for all. Goes out: a table on standard output. The controller is a process of its
//! own: this program again, as `jobflow-test-bench controller …`, which is `jobflow-controller` then. Deliberately
//! absent: bounds that make a test fail, since other work on the machine would decide that.

mod bare;
mod controller;
mod figure;
mod flows;
mod scenario;
mod sightings;
mod stage;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use figure::Table;
use jobflow_controller::Extensions;
use scenario::Scenario;

/// What goes wrong in a measurement ends it.
type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The word that makes this program the controller.
const CONTROLLER: &str = "controller";

/// Measures the controller on a real API server, each figure beside its bound.
///
/// `holds` and `MISSED` compare with the bound; a figure without one is told for the record. On a machine that does
/// other work, figures say little.
#[derive(Debug, Parser)]
struct Arguments {
    /// What to measure [default: all]
    scenarios: Vec<Scenario>,
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|word| word == CONTROLLER) {
        return jobflow_controller::run(arguments, Extensions::default());
    }
    let Arguments { scenarios } = Arguments::parse();
    let chosen = if scenarios.is_empty() {
        Scenario::ALL.to_vec()
    } else {
        scenarios
    };
    match measure(&chosen) {
        Ok(table) => {
            tell(&table.to_string());
            ExitCode::SUCCESS
        }
        Err(error) => {
            tell(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn measure(scenarios: &[Scenario]) -> Result<Table> {
    tokio::runtime::Runtime::new()?.block_on(async {
        let mut table = Table::default();
        for scenario in scenarios {
            tell(&format!("measuring: {}", scenario.title()));
            table.extend(scenario.title(), scenario.run().await?);
        }
        Ok(table)
    })
}

#[expect(clippy::print_stdout, reason = "this is a program for terminals")]
fn tell(text: &str) {
    println!("{text}");
}
