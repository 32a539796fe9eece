//! How much of a status is written: what only people read gives way first.

use super::jobs::{Extent, MOST_HISTORIES};
use super::node::Detail;

/// How much is written, from everything to the least.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    pub(super) extent: Extent,
    pub(super) detail: Detail,
    /// Whether this much is only written within the usual budget.
    pub(super) frugal: bool,
    /// Whether this is told as a loss when there is no other way.
    pub(super) truncated: bool,
}

/// From everything to the least.
pub(super) const LEVELS: [Level; 5] = [
    Level {
        extent: Extent {
            histories: MOST_HISTORIES,
            all: true,
        },
        detail: Detail {
            attempts: true,
            display: true,
        },
        frugal: true,
        truncated: false,
    },
    Level {
        extent: Extent {
            histories: 2,
            all: true,
        },
        detail: Detail {
            attempts: true,
            display: true,
        },
        frugal: true,
        truncated: false,
    },
    Level {
        extent: Extent {
            histories: 0,
            all: true,
        },
        detail: Detail {
            attempts: false,
            display: true,
        },
        frugal: false,
        truncated: false,
    },
    Level {
        extent: Extent {
            histories: 0,
            all: true,
        },
        detail: Detail {
            attempts: false,
            display: false,
        },
        frugal: false,
        truncated: true,
    },
    Level {
        extent: Extent {
            histories: 0,
            all: false,
        },
        detail: Detail {
            attempts: false,
            display: false,
        },
        frugal: false,
        truncated: true,
    },
];
