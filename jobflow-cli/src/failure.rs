//! Why a command ended early, and what is said about it.

use std::error::Error;
use std::io;

use crate::exit::Exit;

/// The way out of a command that can't go on.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Whoever read the output has gone: nothing is left to say.
    Closed,
    /// All was said already.
    Told(Exit),
    /// What is to be said.
    Said(Box<Said>),
}

/// One sentence, what led to it, and what to do about it.
#[derive(Debug)]
pub(crate) struct Said {
    /// How the command ends.
    pub(crate) exit: Exit,
    /// What was intended, and could not be done.
    pub(crate) message: String,
    /// Why, from the nearest cause to the farthest.
    pub(crate) causes: Vec<String>,
    /// What to do about it.
    pub(crate) help: Option<String>,
}

impl Failure {
    /// The arguments or manifests are wrong.
    pub(crate) fn wrong_input(message: impl Into<String>) -> Self {
        Self::said(Exit::WrongInput, message.into())
    }

    /// The system refused something.
    pub(crate) fn could_not_run(message: impl Into<String>) -> Self {
        Self::said(Exit::CouldNotRun, message.into())
    }

    /// It ended in a way that has a code of its own.
    #[cfg(feature = "cluster")]
    pub(crate) fn with_exit(exit: Exit, message: impl Into<String>) -> Self {
        Self::said(exit, message.into())
    }

    /// A task's command could not be started.
    pub(crate) fn not_started(message: impl Into<String>) -> Self {
        Self::said(Exit::NotStarted, message.into())
    }

    fn said(exit: Exit, message: String) -> Self {
        Self::Said(Box::new(Said {
            exit,
            message,
            causes: Vec::new(),
            help: None,
        }))
    }

    /// Adds what led to it.
    pub(crate) fn because(mut self, cause: &dyn Error) -> Self {
        if let Self::Said(said) = &mut self {
            said.causes.extend(chain(cause).map(ToString::to_string));
        }
        self
    }

    /// Adds what led to it, in words.
    #[cfg(feature = "cluster")]
    pub(crate) fn caused_by(mut self, cause: impl Into<String>) -> Self {
        if let Self::Said(said) = &mut self {
            said.causes.push(cause.into());
        }
        self
    }

    /// Adds what to do about it.
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        if let Self::Said(said) = &mut self {
            said.help = Some(help.into());
        }
        self
    }

    /// The failure of writing to the standard output.
    pub(crate) fn of_output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::Closed;
        }
        Self::could_not_run("cannot write to the standard output").because(error)
    }
}

fn chain(error: &dyn Error) -> impl Iterator<Item = &dyn Error> {
    std::iter::successors(Some(error), |error| (*error).source())
}
