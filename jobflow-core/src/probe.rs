//! Probes as data: what is asked of a target's pods, how often, and what an answer counts for.
//!
//! Comes in: what an author wrote, and how each replica answered. Goes out: one answer of a target. Deliberately
//! absent: addresses, sockets and clocks; whoever asks has them.

use alloc::sync::Arc;
use core::fmt;

use crate::time::Span;

/// A question to the running pods of a target's task.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Probe {
    /// The task whose pods are asked; empty for every task of the target.
    pub task: Arc<str>,
    /// The port.
    pub port: u16,
    /// What is asked.
    pub ask: Ask,
    /// From one look to the next.
    pub period: Span,
    /// After which a look has failed.
    pub timeout: Span,
    /// How many looks in a row must succeed, at least one.
    pub success_threshold: u32,
    /// Which replicas must answer.
    pub replicas: Replicas,
}

/// What is asked at a port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Ask {
    /// Whether a connection is accepted.
    TcpSocket,
    /// Whether a request is answered with 2xx or 3xx.
    HttpGet(HttpGet),
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct HttpGet {
    /// Whether over TLS, without a look at the certificate.
    pub tls: bool,
    /// Path and query, from the first `/` on; nothing in it is a host.
    pub path: Arc<str>,
    /// Headers to send: names and values.
    pub headers: Arc<[(Arc<str>, Arc<str>)]>,
}

/// Which replicas must answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Replicas {
    /// All that run.
    #[default]
    All,
    /// One of those that run.
    Any,
}

/// How a replica, or a target, answered: nothing else ever leaves whoever asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum ProbeAnswer {
    /// As is wanted.
    Success,
    /// No replica runs.
    NoPod,
    /// The address isn't one that probes may go to: a pod on its node's network, or not a pod's address at all.
    NotPermitted,
    /// Probes are switched off.
    SwitchedOff,
    /// Nothing listens at the port.
    Refused,
    /// There is no way to the address.
    NoRoute,
    /// The time-out passed.
    TimedOut,
    /// The connection was broken off.
    Reset,
    /// The connection was closed before an answer.
    Closed,
    /// A status other than 2xx and 3xx.
    Status(u16),
    /// What came isn't an answer.
    BadAnswer,
    /// There was no agreement on TLS.
    TlsFailed,
    /// Whoever asks lacks the means, such as a free socket.
    Failed,
}

impl ProbeAnswer {
    /// The answer of a server that answered with this status.
    #[must_use]
    pub const fn of_status(status: u16) -> Self {
        match status {
            200..=399 => Self::Success,
            other => Self::Status(other),
        }
    }

    /// The answers that have no number.
    const PLAIN: [Self; 12] = [
        Self::Success,
        Self::NoPod,
        Self::NotPermitted,
        Self::SwitchedOff,
        Self::Refused,
        Self::NoRoute,
        Self::TimedOut,
        Self::Reset,
        Self::Closed,
        Self::BadAnswer,
        Self::TlsFailed,
        Self::Failed,
    ];

    /// The answer that is told in these words; `None` if none is.
    ///
    /// ```
    /// use jobflow_core::probe::ProbeAnswer;
    ///
    /// assert_eq!(ProbeAnswer::in_words("answers with status 503"), Some(ProbeAnswer::Status(503)));
    /// assert_eq!(ProbeAnswer::in_words("sings"), None);
    /// ```
    #[must_use]
    pub fn in_words(words: &str) -> Option<Self> {
        let status = words.strip_prefix(STATUS).and_then(|status| status.parse().ok());
        let plain = || Self::PLAIN.into_iter().find(|answer| answer.words() == words);
        status.map(Self::Status).or_else(plain)
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Success => "answers",
            Self::NoPod => "has no running pod",
            Self::NotPermitted => "has an address that probes may not go to",
            Self::SwitchedOff => "is not probed: probes are switched off",
            Self::Refused => "refuses the connection",
            Self::NoRoute => "can't be reached from here",
            Self::TimedOut => "doesn't answer in time",
            Self::Reset => "breaks the connection off",
            Self::Closed => "closes the connection without an answer",
            Self::Status(_) => STATUS,
            Self::BadAnswer => "answers with something that isn't HTTP",
            Self::TlsFailed => "doesn't speak TLS as asked",
            Self::Failed => "could not be asked",
        }
    }

    /// The answer of a target whose running replicas answered so, in their order.
    #[must_use]
    pub fn of_replicas(replicas: Replicas, answers: impl IntoIterator<Item = Self>) -> Self {
        let mut failed = None;
        let mut succeeded = false;
        for answer in answers {
            if answer == Self::Success {
                succeeded = true;
            } else {
                failed = failed.or(Some(answer));
            }
        }
        match (replicas, failed) {
            (Replicas::Any, _) | (Replicas::All, None) if succeeded => Self::Success,
            (_, Some(failed)) => failed,
            (_, None) => Self::NoPod,
        }
    }
}

impl fmt::Display for ProbeAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())?;
        if let Self::Status(status) = self {
            write!(f, "{status}")?;
        }
        Ok(())
    }
}

const STATUS: &str = "answers with status ";

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn two_hundreds_and_redirects_are_successes_and_nothing_else_is() {
        for (status, answer) in [
            (199, ProbeAnswer::Status(199)),
            (200, ProbeAnswer::Success),
            (302, ProbeAnswer::Success),
            (399, ProbeAnswer::Success),
            (400, ProbeAnswer::Status(400)),
            (503, ProbeAnswer::Status(503)),
        ] {
            assert_eq!(ProbeAnswer::of_status(status), answer);
        }
    }

    #[test]
    fn every_answer_is_found_by_its_words() {
        let numbered = [ProbeAnswer::Status(404), ProbeAnswer::Status(65_535)];
        for answer in ProbeAnswer::PLAIN.into_iter().chain(numbered) {
            assert_eq!(ProbeAnswer::in_words(&answer.to_string()), Some(answer));
        }
        for other in ["", "answers with status", "answers with status x", "answer"] {
            assert_eq!(ProbeAnswer::in_words(other), None, "{other}");
        }
    }

    #[test]
    fn all_or_any_of_the_running_replicas_answer_and_none_is_no_pod() {
        use ProbeAnswer::{NoPod, Refused, Success, TimedOut};
        for (answers, all, any) in [
            (&[][..], NoPod, NoPod),
            (&[Success][..], Success, Success),
            (&[Success, Refused, TimedOut][..], Refused, Success),
            (&[TimedOut, Refused][..], TimedOut, TimedOut),
        ] {
            let of = |replicas| ProbeAnswer::of_replicas(replicas, answers.iter().copied());
            assert_eq!((of(Replicas::All), of(Replicas::Any)), (all, any), "{answers:?}");
        }
    }
}
