//! What tests that cross crates share: flows with known ends, and the way to play them.

pub mod local;
pub mod scripts;
pub mod vectors;
