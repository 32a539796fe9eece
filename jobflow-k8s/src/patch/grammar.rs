//! Paths of what a patch takes away: `tasks[main].template.metadata.annotations["a.b/c"]`.
//!
//! ```text
//! path = field { "." field | "[" element "]" | "[" quoted "]" }
//! ```
//!
//! A field is a name of letters, digits, `_`, `-` and `$`; an element is any text without `]` and quotes, or a text in
//! double quotes as in JSON. In brackets stands the name of an element of a list, or a key of a map.

use std::fmt;
use std::str::FromStr;

/// The path of something that is taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// Its steps, at least one.
    pub steps: Vec<Step>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// `.name`
    Field(String),
    /// `[name]`: an element of a list by its name, or a key.
    Named(String),
}

/// A text that is no path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathFault {
    /// There is nothing.
    #[error("the path is empty")]
    Empty,
    /// A name is expected.
    #[error("no path: the name of a field is expected at character {0}")]
    NoField(usize),
    /// A bracket isn't closed.
    #[error("no path: the bracket at character {0} isn't closed")]
    Open(usize),
    /// There is nothing in the brackets.
    #[error("no path: there is nothing in the brackets at character {0}")]
    NoElement(usize),
    /// Something is where a dot or a bracket must be.
    #[error("no path: `.` or `[` is expected at character {0}")]
    NoStep(usize),
}

impl FromStr for Removal {
    type Err = PathFault;

    fn from_str(text: &str) -> Result<Self, PathFault> {
        let text = text.trim();
        if text.is_empty() {
            return Err(PathFault::Empty);
        }
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let at = text.chars().count() - rest.chars().count() + 1;
            let (step, left) = match rest.strip_prefix('[') {
                Some(inside) if !steps.is_empty() => element(inside, at)?,
                Some(_) => return Err(PathFault::NoField(at)),
                None if steps.is_empty() => field(rest, at)?,
                None => field(rest.strip_prefix('.').ok_or(PathFault::NoStep(at))?, at + 1)?,
            };
            steps.push(step);
            rest = left;
        }
        Ok(Self { steps })
    }
}

fn field(text: &str, at: usize) -> Result<(Step, &str), PathFault> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$');
    let end = text.find(|c| !allowed(c)).unwrap_or(text.len());
    match text.split_at_checked(end) {
        Some((name, rest)) if !name.is_empty() => Ok((Step::Field(name.to_owned()), rest)),
        Some(_) | None => Err(PathFault::NoField(at)),
    }
}

/// What stands in brackets, of which the first was read.
fn element(inside: &str, at: usize) -> Result<(Step, &str), PathFault> {
    let (name, rest) = if inside.starts_with('"') {
        let mut values = serde_json::Deserializer::from_str(inside).into_iter::<String>();
        let name = values.next().and_then(Result::ok).ok_or(PathFault::Open(at))?;
        let rest = inside.get(values.byte_offset()..).unwrap_or_default();
        (name, rest.strip_prefix(']').ok_or(PathFault::Open(at))?)
    } else {
        let (name, rest) = inside.split_once(']').ok_or(PathFault::Open(at))?;
        (name.trim().to_owned(), rest)
    };
    match name.is_empty() {
        true => Err(PathFault::NoElement(at)),
        false => Ok((Step::Named(name), rest)),
    }
}

/// A path as it is written; reading it again gives the same path.
impl fmt::Display for Removal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.steps.iter().enumerate() {
            match step {
                Step::Field(name) if at == 0 => f.write_str(name)?,
                Step::Field(name) => write!(f, ".{name}")?,
                Step::Named(name) if is_plain(name) => write!(f, "[{name}]")?,
                Step::Named(name) => write!(f, "[{}]", serde_json::Value::from(name.as_str()))?,
            }
        }
        Ok(())
    }
}

fn is_plain(name: &str) -> bool {
    name.trim() == name && !name.contains([']', '[', '"', '.']) && !name.chars().any(char::is_control)
}
