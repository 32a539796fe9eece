//! Expressions as the core sees them: which nodes they read, and what they come to. The core knows no values.

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use crate::key::NodeId;
use crate::record::FlowRecord;

/// What an expression may read.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The record of the flow, in which the nodes that the expression names have ended.
    pub record: &'a FlowRecord,
}

/// An expression of the spec, compiled and checked.
pub trait Expression: fmt::Debug + Send + Sync {
    /// The text it was made from; two expressions with equal text are the same.
    fn text(&self) -> &str;

    /// The nodes that it reads.
    fn nodes(&self) -> &[NodeId];

    /// Whether it is true.
    ///
    /// # Errors
    ///
    /// Why it could not be evaluated.
    fn holds(&self, scope: Scope<'_>) -> Result<bool, String>;

    /// Which case of a switch it chooses; none for the default.
    ///
    /// # Errors
    ///
    /// Why it could not be evaluated.
    fn choose(&self, scope: Scope<'_>) -> Result<Option<u32>, String>;
}

/// An expression, compared by its text.
#[derive(Clone, Debug)]
pub struct Formula(pub Arc<dyn Expression>);

impl PartialEq for Formula {
    fn eq(&self, other: &Self) -> bool {
        self.0.text() == other.0.text()
    }
}
