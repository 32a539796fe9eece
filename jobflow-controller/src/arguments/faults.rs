//! What is wrong with arguments, all of it at once.

use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentFault {
    /// The argument as it is typed.
    pub argument: String,
    /// What is wrong with it, and what would be right.
    pub message: String,
}

/// Everything that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(pub Vec<ArgumentFault>);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, ArgumentFault { argument, message }) in self.0.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            write!(f, "{end}{argument}: {message}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refused {}

/// Collects faults while arguments are read.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<ArgumentFault>);

impl Faults {
    pub(super) fn add(&mut self, argument: &str, message: impl Into<String>) {
        self.0.push(ArgumentFault {
            argument: argument.to_owned(),
            message: message.into(),
        });
    }

    /// The value, or a fault and none.
    pub(super) fn read<T>(
        &mut self,
        argument: &str,
        typed: &str,
        value: Option<T>,
        right: &str,
    ) -> Option<T> {
        if value.is_none() {
            self.add(argument, format!("{typed:?} is not {right}"));
        }
        value
    }

    /// The whole if nothing was wrong.
    pub(super) fn finish<T>(self, whole: Option<T>) -> Result<T, Refused> {
        match (whole, self.0) {
            (Some(whole), faults) if faults.is_empty() => Ok(whole),
            (_, faults) => Err(Refused(faults)),
        }
    }
}
