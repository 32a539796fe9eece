//! A made-up world for tests of ours and of embedders: jobs whose ends are told beforehand, a loop that plans and
//! acts, the invariants after each step, and the reader of conformance scripts.

mod invariants;
mod life;
mod script;
mod world;

pub use invariants::{Violation, invariants};
pub use life::{End, Life};
pub use script::{Act, Expectation, Script, ScriptFault, Step};
pub use world::{Moment, World};

use alloc::string::String;
use alloc::vec::Vec;

use crate::expression::{Expression, Scope};
use crate::key::NodeId;

/// An expression that always comes to the same: `true`, `false`, or the number of a case.
#[derive(Clone, Debug)]
pub struct Constant(pub String);

impl Expression for Constant {
    fn text(&self) -> &str {
        &self.0
    }

    fn nodes(&self) -> &[NodeId] {
        &[]
    }

    fn holds(&self, _: Scope<'_>) -> Result<bool, String> {
        self.0
            .parse()
            .map_err(|_| alloc::format!("{:?} is neither true nor false", self.0))
    }

    fn choose(&self, _: Scope<'_>) -> Result<Option<u32>, String> {
        match self.0.as_str() {
            "default" => Ok(None),
            number => number
                .parse()
                .map(Some)
                .map_err(|_| alloc::format!("{number:?} is no case")),
        }
    }
}

/// All orders are as good as each other: the elements of `of`, shuffled by `seed`.
#[must_use]
pub fn shuffled<T>(of: impl IntoIterator<Item = T>, seed: u64) -> Vec<T> {
    let mut all: Vec<T> = of.into_iter().collect();
    let mut state = seed;
    for last in (1..all.len()).rev() {
        state = crate::retry::splitmix64(state);
        let pick = usize::try_from(state % (last as u64 + 1)).unwrap_or(0);
        all.swap(last, pick);
    }
    all
}
