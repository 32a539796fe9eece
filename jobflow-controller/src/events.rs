//! Transitions of nodes as Events of their flow: one each, folded where many come at once, and never in the way.
//!
//! Comes in: what the observer hears. Goes out: objects of `events.k8s.io/v1`. [`book`] decides what is told and when,
//! [`sender`] sends it from a task of its own. Deliberately absent: any effect of an Event that could not be sent.

pub mod book;
pub mod object;
pub mod sender;

pub use book::{About, Book, Note, Subject};
pub use sender::Sender;
