//! The executor alone, for programs that embed this library and have no hidden subcommands for it.

use std::{ffi::OsString, process::ExitCode, time::Duration};

use jobflow_local::{
    enter,
    executor::{self, ExecutorError, Options},
};

#[expect(
    clippy::print_stderr,
    reason = "the one way to tell why it ended; the caller sends it to a file"
)]
fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match arguments.as_slice() {
        [verb, plan] if verb == "__enter" => {
            let Err(error) = enter::main(&plan.to_string_lossy()) else {
                return ExitCode::SUCCESS;
            };
            eprintln!("jobflow: {}", with_causes(&error));
            ExitCode::from(enter::START_ERROR)
        }
        [folder] => serve(folder, Options::default()),
        [folder, idle] => {
            let milliseconds = idle.to_str().and_then(|text| text.parse().ok()).unwrap_or(10_000);
            serve(
                folder,
                Options {
                    idle: Duration::from_millis(milliseconds),
                },
            )
        }
        _ => {
            eprintln!("usage: jobflow-executor DIR [IDLE_MILLISECONDS] | jobflow-executor __enter PLAN");
            ExitCode::from(2)
        }
    }
}

#[expect(clippy::print_stderr, reason = "as above")]
fn serve(folder: &OsString, options: Options) -> ExitCode {
    match executor::main(folder.as_ref(), options, std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(ExecutorError::Taken) => ExitCode::from(executor::TAKEN),
        Err(error) => {
            eprintln!("jobflow-executor: {}", with_causes(&error));
            ExitCode::FAILURE
        }
    }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
