//! What is measured.

mod chain;
mod fair;
mod memory;
mod size;
mod wide;

use std::time::Duration;

use clap::ValueEnum;

use crate::Result;
use crate::figure::Figure;

/// The longest that anything is waited for; a figure says little on a machine that is slower.
const PATIENCE: Duration = Duration::from_secs(600);

/// A scenario, measured on a control plane of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scenario {
    /// 200 jobs, one after the other
    Chain,
    /// 1,000 jobs, all at once
    Wide,
    /// How large a flow becomes, and how long the server takes to store its status
    Size,
    /// 10,000 live jobs
    Memory,
    /// 1,000 flows at once, with and without a hostile namespace
    Fair,
}

impl Scenario {
    pub(crate) const ALL: [Self; 5] = [Self::Chain, Self::Wide, Self::Size, Self::Memory, Self::Fair];

    /// As the table calls it.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Chain => "a chain of 200 jobs",
            Self::Wide => "1,000 jobs side by side",
            Self::Size => "the size of a flow and of its status",
            Self::Memory => "10,000 live jobs",
            Self::Fair => "1,000 flows at once, from apply to the first create",
        }
    }

    pub(crate) async fn run(self) -> Result<Vec<Figure>> {
        match self {
            Self::Chain => chain::measure().await,
            Self::Wide => wide::measure().await,
            Self::Size => size::measure().await,
            Self::Memory => memory::measure().await,
            Self::Fair => fair::measure().await,
        }
    }
}
