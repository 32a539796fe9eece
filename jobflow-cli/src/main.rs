//! `jobflow`: the command line.

fn main() {}
