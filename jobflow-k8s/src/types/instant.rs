//! A point in time of a record, to the millisecond.
//!
//! Kubernetes' own `Time` is cut to seconds when it is written; a delay or a back-off read again would come out
//! differently. Deliberately absent: a way to read a clock.

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The last millisecond that a [`Timestamp`] can hold, in the year 9999.
const LAST: i64 = 253_402_207_200_000;

/// A point in time, written as RFC 3339 with the milliseconds that it has.
///
/// ```
/// use jobflow_core::Time;
/// use jobflow_k8s::types::Instant;
///
/// assert_eq!(serde_json::to_string(&Instant::from(Time(1_500))).unwrap(), r#""1970-01-01T00:00:01.5Z""#);
/// assert_eq!(Instant::from(Time(2_000)).to_string(), "1970-01-01T00:00:02Z");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(i64);

impl Instant {
    fn timestamp(self) -> Timestamp {
        Timestamp::from_millisecond(self.0).unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

impl From<jobflow_core::Time> for Instant {
    /// What can't be written is moved to the nearest point that can.
    fn from(time: jobflow_core::Time) -> Self {
        Self(time.0.clamp(0, LAST))
    }
}

impl From<Instant> for jobflow_core::Time {
    fn from(instant: Instant) -> Self {
        Self(instant.0)
    }
}

impl From<Instant> for Time {
    /// Cut to the second, as it is written.
    fn from(instant: Instant) -> Self {
        Self(Instant(instant.0 - instant.0.rem_euclid(1000)).timestamp())
    }
}

impl From<&Time> for Instant {
    fn from(time: &Time) -> Self {
        Self(time.0.as_millisecond().clamp(0, LAST))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.timestamp(), f)
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let timestamp = Timestamp::deserialize(deserializer)?;
        Ok(Self(timestamp.as_millisecond().clamp(0, LAST)))
    }
}

impl JsonSchema for Instant {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Instant".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for milliseconds in [0, 1, 999, 1_000, 1_796_000_000_123, LAST] {
            let text = serde_json::to_string(&Instant(milliseconds)).unwrap();
            assert_eq!(
                serde_json::from_str::<Instant>(&text).unwrap(),
                Instant(milliseconds),
                "{text}"
            );
        }
    }

    #[test]
    fn times_out_of_reach_are_moved_to_the_nearest_that_can_be_written() {
        assert_eq!(
            Instant::from(jobflow_core::Time(i64::MAX)).to_string(),
            "9999-12-30T22:00:00Z"
        );
        assert_eq!(
            Instant::from(jobflow_core::Time(i64::MIN)).to_string(),
            "1970-01-01T00:00:00Z"
        );
    }

    #[test]
    fn a_time_of_kubernetes_is_cut_to_the_second() {
        assert_eq!(Instant::from(&Time::from(Instant(1_999))), Instant(1_000));
    }
}
