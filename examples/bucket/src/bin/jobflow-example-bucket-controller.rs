//! `jobflow-controller` with one more kind of predicate: its buckets are the folders in `$BUCKETS`.

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let folder = env::var_os("BUCKETS").map_or_else(|| PathBuf::from("buckets"), PathBuf::from);
    jobflow_controller::run(env::args_os(), jobflow_example_bucket::extensions(folder))
}
