//! `jobflow` with one more kind of predicate: its buckets are the folders in `$BUCKETS`.

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let folder = env::var_os("BUCKETS").map_or_else(|| PathBuf::from("buckets"), PathBuf::from);
    let extensions = jobflow_example_bucket::extensions(folder);
    jobflow_cli::run_with(env::args_os(), &extensions)
}
