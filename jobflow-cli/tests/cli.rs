//! The program as its users meet it: arguments and files in; stdout, stderr and exit codes out.
#![expect(clippy::unwrap_used, reason = "what surrounds a test may fail it too")]

#[path = "cli/world.rs"]
mod world;

#[path = "cli/drawing.rs"]
mod drawing;
#[path = "cli/generated.rs"]
mod generated;
#[path = "cli/machine.rs"]
mod machine;
#[path = "cli/offline.rs"]
mod offline;
#[path = "cli/past.rs"]
mod past;
#[path = "cli/running.rs"]
mod running;
#[path = "cli/starting.rs"]
mod starting;
#[path = "cli/streams.rs"]
mod streams;
#[path = "cli/validating.rs"]
mod validating;
#[path = "cli/why.rs"]
mod why;
