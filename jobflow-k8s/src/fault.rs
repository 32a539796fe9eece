//! What is wrong with an input: all of it at once, each with its path, its place and a way out.
//!
//! Comes in: checks of any module push [`Fault`]s with a field path. Goes out: faults with line and column, once
//! [`crate::yaml::Document::place`] has looked the paths up. Deliberately absent: rendering; see `Display` for the plain
//! form, the command line draws the source.

mod code;
mod path;
mod suggest;

use std::fmt;
use std::sync::Arc;

pub use code::Code;
pub use path::{FieldPath, PathError, Segment};
pub use suggest::closest;

/// The most faults that are kept of one input; what comes after says how many more there were.
pub const MOST_FAULTS: usize = 1000;

/// One thing that is wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind of fault it is; stable, for scripts.
    pub code: Code,
    /// Whether the input can be used nonetheless.
    pub severity: Severity,
    /// The field, from the root of its object.
    pub path: FieldPath,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Where it is in the text, when that is known.
    pub place: Option<Place>,
}

/// Whether an input with this fault can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It can't be used.
    Error,
    /// It can, but probably doesn't mean what its author thinks.
    Warning,
}

/// A place in a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The name of the text: a file's path, or `<stdin>`.
    pub source: Arc<str>,
    /// Line and column.
    pub position: Position,
}

/// Line and column, both counted from 1, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl Fault {
    /// Builds an error at `path`.
    #[must_use]
    pub fn error(code: Code, path: FieldPath, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            path,
            message: message.into(),
            help: None,
            place: None,
        }
    }

    /// Builds a warning at `path`.
    #[must_use]
    pub fn warning(code: Code, path: FieldPath, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(code, path, message)
        }
    }

    /// Says what to do about it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds `did you mean …?` if one of `known` is close to `written`.
    #[must_use]
    pub fn with_suggestion<'a>(self, written: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        match closest(written, known) {
            Some(name) => self.with_help(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// Says where it is.
    #[must_use]
    pub fn with_place(mut self, source: &Arc<str>, position: Position) -> Self {
        self.place = Some(Place {
            source: Arc::clone(source),
            position,
        });
        self
    }

    /// Whether the input can't be used.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{}",
            self.source, self.position.line, self.position.column
        )
    }
}

/// `file:line:column: error[code]: path: message (help)`; parts that aren't known are left out.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}[{}]: ", self.severity, self.code)?;
        if !self.path.is_root() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_reads_as_one_line() {
        let path = FieldPath::root()
            .field("spec")
            .field("flows")
            .index(2)
            .field("nmae");
        let fault = Fault::error(Code::UnknownField, path, "unknown field `nmae`")
            .with_suggestion("nmae", ["name", "template"])
            .with_place(&"flow.yaml".into(), Position { line: 7, column: 5 });
        assert_eq!(
            fault.to_string(),
            "flow.yaml:7:5: error[unknown-field]: spec.flows[2].nmae: unknown field `nmae` (did you mean `name`?)"
        );
    }
}
