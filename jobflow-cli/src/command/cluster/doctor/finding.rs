//! One thing that was looked at, and how it is.

use serde_json::{Value, json};

use crate::escape;

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// As it should be.
    Good,
    /// Worth knowing.
    Note,
    /// It can't be looked at.
    Unknown,
    /// It keeps flows from running.
    Bad,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    state: State,
    about: &'static str,
    said: String,
    help: Option<String>,
}

impl Finding {
    /// Says how something is.
    pub(super) fn new(state: State, about: &'static str, said: impl Into<String>) -> Self {
        Self {
            state,
            about,
            said: said.into(),
            help: None,
        }
    }

    /// It is as it should be.
    pub(super) fn good(about: &'static str, said: impl Into<String>) -> Self {
        Self::new(State::Good, about, said)
    }

    /// It keeps flows from running.
    pub(super) fn bad(about: &'static str, said: impl Into<String>) -> Self {
        Self::new(State::Bad, about, said)
    }

    /// Says what to do about it.
    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Whether it keeps flows from running.
    pub(super) fn is_bad(&self) -> bool {
        self.state == State::Bad
    }
}

impl State {
    const fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Note => "note",
            Self::Unknown => "unknown",
            Self::Bad => "bad",
        }
    }
}

/// A line a finding, and one for what to do about it.
pub(super) fn told(findings: &[Finding]) -> String {
    let width = findings
        .iter()
        .map(|finding| finding.about.len())
        .max()
        .unwrap_or(0);
    let line = |finding: &Finding| {
        let Finding {
            state,
            about,
            said,
            help,
        } = finding;
        let help = help
            .as_ref()
            .map(|help| format!("{:9}{:width$}  help: {}\n", "", "", escape::terminal(help)));
        let said = escape::terminal(said);
        format!(
            "{:7}  {about:width$}  {said}\n{}",
            state.word(),
            help.unwrap_or_default()
        )
    };
    findings.iter().map(line).collect()
}

/// The same for programs.
pub(super) fn as_json(findings: &[Finding]) -> Value {
    let object = |finding: &Finding| {
        let Finding {
            state,
            about,
            said,
            help,
        } = finding;
        json!({ "state": state.word(), "about": about, "said": said, "help": help })
    };
    findings.iter().map(object).collect()
}
