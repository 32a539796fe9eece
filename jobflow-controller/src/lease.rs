//! Leader election: of several controllers one leads, and one that has lost its lease does nothing more.
//!
//! ```text
//!            absent, released, or not renewed for its duration
//!   Following ────────────────────────────────────────────────► Leading ─┐ renews
//!       ▲                                                        │  ▲────┘
//!       │ another holds it, or no renewal got through for the    │
//!       └──────────── renew deadline ────────────────────────────┘
//! ```
//!
//! Comes in: answers of the API server, and the time as an argument. Goes out: what to ask next, and how long the lease
//! is surely ours. [`machine`] decides, [`elector`] sends, [`term`] is what everybody asks who is about to write.
//! Deliberately absent: comparison of wall clocks. Renewals of others are timed by when they were seen here.

pub mod claim;
pub mod elector;
pub mod machine;
pub mod term;
pub mod timings;

pub use claim::Identity;
pub use elector::{Elector, LeaseName};
pub use machine::{Answer, Ask, Machine, Standing, Step};
pub use term::{Leadership, LeaseTerm, Other};
pub use timings::{Timings, TimingsFault};
