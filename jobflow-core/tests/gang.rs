//! What the gang machine does beyond what the recordings show. The recordings are in `gang_traces`.

#[path = "gang/laws.rs"]
mod laws;
#[path = "gang/policies.rs"]
mod policies;
#[path = "gang/restarts.rs"]
mod restarts;
#[path = "gang/rules.rs"]
mod rules;
#[path = "gang/specs.rs"]
mod specs;
#[path = "gang/world.rs"]
mod world;
