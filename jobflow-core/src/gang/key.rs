//! The name of one pod of a gang, once and for ever. Deliberately absent: the pod's name in a cluster, which is used
//! again by each incarnation.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use thiserror::Error;

/// One incarnation of one replica of a task.
///
/// Written `task/index/incarnation`, as `0/3/1`: effects on a key may be repeated, for a key never comes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "String", try_from = "String")
)]
pub struct PodKey {
    /// Place of the task in the spec.
    pub task: u32,
    /// Which replica, from 0.
    pub index: u32,
    /// How many pods of this replica there were before.
    pub incarnation: u32,
}

/// The text isn't `task/index/incarnation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a pod key is three numbers: task/index/incarnation")]
pub struct PodKeyError;

impl fmt::Display for PodKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            task,
            index,
            incarnation,
        } = self;
        write!(formatter, "{task}/{index}/{incarnation}")
    }
}

impl FromStr for PodKey {
    type Err = PodKeyError;

    fn from_str(text: &str) -> Result<Self, PodKeyError> {
        let mut numbers = text
            .split('/')
            .map(|number| number.parse().map_err(|_| PodKeyError));
        let mut number = || numbers.next().unwrap_or(Err(PodKeyError));
        let key = Self {
            task: number()?,
            index: number()?,
            incarnation: number()?,
        };
        numbers.next().map_or(Ok(key), |_| Err(PodKeyError))
    }
}

impl From<PodKey> for String {
    fn from(key: PodKey) -> Self {
        alloc::format!("{key}")
    }
}

impl TryFrom<String> for PodKey {
    type Error = PodKeyError;

    fn try_from(text: String) -> Result<Self, PodKeyError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_back_from_its_text() {
        let key = PodKey {
            task: 0,
            index: 31,
            incarnation: 2,
        };
        assert_eq!(String::from(key), "0/31/2");
        assert_eq!("0/31/2".parse(), Ok(key));
    }

    #[test]
    fn anything_else_is_no_key() {
        for text in ["", "0", "0/1", "0/1/2/3", "a/1/2", "0/-1/2", "4294967296/0/0"] {
            assert_eq!(text.parse::<PodKey>(), Err(PodKeyError), "{text}");
        }
    }
}
