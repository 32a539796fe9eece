//! The name of a run: sorted by name they are sorted by time, and people see which flow it was.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

const LENGTH: usize = 200;

/// A run's name, as `20261129T142501Z-etl-k3x9`; also the name of its folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

/// Text that can't be the name of a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no name of a run: lower-case letters, digits, `-` and `.` after a time like 20261129T142501Z"
)]
pub struct BadRunId(String);

impl RunId {
    /// Names a run of `flow` that begins at a time, in milliseconds since 1970; the suffix tells apart what began in
    /// the same second.
    ///
    /// # Errors
    ///
    /// When the flow's name or the suffix isn't made of lower-case letters, digits, `-` and `.`.
    pub fn new(flow: &str, at: i64, suffix: &str) -> Result<Self, BadRunId> {
        let time = Timestamp::from_millisecond(at).map_err(|_| BadRunId(flow.to_owned()))?;
        Self::parse(&format!("{}-{flow}-{suffix}", time.strftime("%Y%m%dT%H%M%SZ")))
    }

    /// Reads a name that somebody typed or that stands in a folder.
    ///
    /// # Errors
    ///
    /// When it isn't one.
    pub fn parse(text: &str) -> Result<Self, BadRunId> {
        let bad = || BadRunId(text.to_owned());
        let (time, rest) = text.split_once('-').ok_or_else(bad)?;
        let plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'.';
        if !is_time(time) || text.len() > LENGTH || rest.is_empty() || !rest.bytes().all(plain) {
            return Err(bad());
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_time(text: &str) -> bool {
    let digit = |byte: &u8| byte.is_ascii_digit();
    let bytes = text.as_bytes();
    let parts = (bytes.get(..8), bytes.get(8), bytes.get(9..15), bytes.get(15..));
    let (Some(day), Some(b'T'), Some(second), Some(b"Z")) = parts else {
        return false;
    };
    day.iter().all(digit) && second.iter().all(digit)
}

impl TryFrom<String> for RunId {
    type Error = BadRunId;

    fn try_from(text: String) -> Result<Self, BadRunId> {
        Self::parse(&text)
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_time_and_show_the_flow() {
        let first = RunId::new("zoo", 1_796_000_000_000, "a").unwrap();
        let second = RunId::new("ant", 1_796_000_001_000, "a").unwrap();
        assert!(first < second);
        assert_eq!(first.as_str(), "20261130T005320Z-zoo-a");
        assert_eq!(RunId::parse(first.as_str()), Ok(first));
    }

    #[test]
    fn a_hostile_name_never_becomes_a_path() {
        for flow in [
            "../../etc",
            "a/b",
            "A",
            "a b",
            "a\n",
            "\u{1b}[31m",
            &"a".repeat(200),
        ] {
            assert!(RunId::new(flow, 0, "x").is_err(), "{flow}");
        }
        for text in [
            "",
            ".",
            "..",
            "20261129T142501Z-",
            "20261129T142501Z",
            "2026-a",
            "2026112XT142501Z-a",
        ] {
            assert!(RunId::parse(text).is_err(), "{text}");
        }
    }
}
