//! Showing a run while it goes on: a table that is drawn anew on a terminal, lines in a pipe, objects for programs.

mod frame;
mod marks;
mod progress;
mod screen;

pub(crate) use frame::{Size, frame};
pub(crate) use progress::{Outcome, Progress};
#[cfg(feature = "cluster")]
pub(crate) use screen::Screen;
