//! The executor alone, for programs that embed this library and have no hidden subcommand for it.

use std::{process::ExitCode, time::Duration};

use jobflow_local::executor::{self, ExecutorError, Options};

#[expect(
    clippy::print_stderr,
    reason = "the one way to tell why it ended; the caller sends it to a file"
)]
fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let (Some(folder), milliseconds) = (arguments.first(), arguments.get(1)) else {
        eprintln!("usage: jobflow-executor DIR [IDLE_MILLISECONDS]");
        return ExitCode::from(2);
    };
    let idle = milliseconds
        .and_then(|text| text.to_str()?.parse().ok())
        .map(Duration::from_millis);
    let options = idle.map_or_else(Options::default, |idle| Options { idle });
    match executor::main(folder.as_ref(), options, std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(ExecutorError::Taken) => ExitCode::from(3),
        Err(error) => {
            eprintln!(
                "jobflow-executor: {error}: {:?}",
                std::error::Error::source(&error)
            );
            ExitCode::FAILURE
        }
    }
}
