//! What stands in a Lease: who holds it, for how long, since when.
//!
//! Comes in: a Lease as it was read. Goes out: the same Lease with a claim of ours in it. Metadata and fields that
//! aren't ours stay.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;

use super::timings::Timings;

/// The label that says whose lease it is.
pub const APPLICATION: (&str, &str) = ("app.kubernetes.io/name", "jobflow-controller");

/// Who a controller is in a Lease; no two processes have the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity(String);

impl Identity {
    /// The pod (or host), and something that no other process has.
    #[must_use]
    pub fn new(host: &str, random: u64) -> Self {
        let plain = |character: &char| character.is_ascii_alphanumeric() || matches!(character, '-' | '.');
        let host: String = host.chars().filter(plain).take(200).collect();
        Self(format!("{host}_{random:016x}"))
    }

    /// As it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Who holds a lease; none if it was released.
pub(super) fn holder(lease: &Lease) -> Option<&str> {
    let spec = lease.spec.as_ref()?;
    spec.holder_identity
        .as_deref()
        .filter(|holder| !holder.is_empty())
}

/// How long whoever holds it asked others to wait. What nobody could have meant is what we would have written.
pub(super) fn duration(lease: &Lease, ours: Duration) -> Duration {
    let seconds = lease.spec.as_ref().and_then(|spec| spec.lease_duration_seconds);
    let seconds = seconds.and_then(|seconds| u64::try_from(seconds).ok());
    match seconds {
        Some(seconds @ 1..=3600) => Duration::from_secs(seconds),
        Some(_) | None => ours,
    }
}

/// What makes two readings of a lease the same renewal.
pub(super) fn renewal(lease: &Lease) -> (Option<&str>, Option<&MicroTime>, Option<&str>) {
    let renewed = lease.spec.as_ref().and_then(|spec| spec.renew_time.as_ref());
    (holder(lease), renewed, lease.metadata.resource_version.as_deref())
}

/// Whether the lease was made by a controller of this kind.
#[must_use]
pub fn is_of_jobflow(lease: &Lease) -> bool {
    let (key, value) = APPLICATION;
    let labels = lease.metadata.labels.as_ref();
    labels
        .and_then(|labels| labels.get(key))
        .is_some_and(|found| found == value)
}

/// The lease with our claim in it; acquired anew unless it is ours already.
pub(super) fn claimed(lease: &Lease, me: &Identity, timings: &Timings, now: Timestamp) -> Lease {
    let spec = lease.spec.clone().unwrap_or_default();
    let is_ours = holder(lease) == Some(me.as_str());
    let transitions = spec.lease_transitions.unwrap_or_default();
    let is_new = lease.metadata.resource_version.is_none();
    let spec = LeaseSpec {
        holder_identity: Some(me.as_str().to_owned()),
        lease_duration_seconds: Some(i32::try_from(timings.duration.as_secs()).unwrap_or(i32::MAX)),
        renew_time: Some(MicroTime(now)),
        acquire_time: match is_ours {
            true => spec.acquire_time.clone(),
            false => Some(MicroTime(now)),
        },
        lease_transitions: Some(match is_ours || is_new {
            true => transitions,
            false => transitions.saturating_add(1),
        }),
        ..spec
    };
    labelled(lease, spec)
}

/// The lease with nobody's claim in it.
pub(super) fn released(lease: &Lease, now: Timestamp) -> Lease {
    let spec = LeaseSpec {
        holder_identity: Some(String::new()),
        lease_duration_seconds: Some(1),
        renew_time: Some(MicroTime(now)),
        acquire_time: Some(MicroTime(now)),
        ..lease.spec.clone().unwrap_or_default()
    };
    labelled(lease, spec)
}

fn labelled(lease: &Lease, spec: LeaseSpec) -> Lease {
    let mut metadata = lease.metadata.clone();
    metadata.managed_fields = None;
    let (key, value) = APPLICATION;
    metadata
        .labels
        .get_or_insert_default()
        .insert(key.to_owned(), value.to_owned());
    Lease {
        metadata,
        spec: Some(spec),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_can_t_be_written_is_cut_to_what_can() {
        assert_eq!(Identity::new("pod-1", 7).as_str(), "pod-1_0000000000000007");
        assert_eq!(
            Identity::new("a\n\u{1b}[31mb", 0).as_str(),
            "a31mb_0000000000000000"
        );
        assert!(Identity::new(&"x".repeat(1000), 0).as_str().len() < 253);
    }

    #[test]
    fn a_duration_that_nobody_could_have_meant_is_ours() {
        let lease = |seconds| Lease {
            spec: Some(LeaseSpec {
                lease_duration_seconds: seconds,
                ..LeaseSpec::default()
            }),
            ..Lease::default()
        };
        let ours = Duration::from_secs(15);
        assert_eq!(duration(&lease(Some(30)), ours), Duration::from_secs(30));
        for odd in [None, Some(0), Some(-1), Some(i32::MAX)] {
            assert_eq!(duration(&lease(odd), ours), ours, "{odd:?}");
        }
    }

    #[test]
    fn a_claim_keeps_what_isn_t_ours() {
        let mut found = Lease::default();
        found.metadata.annotations = Some([("team".to_owned(), "a".to_owned())].into());
        found.metadata.resource_version = Some("4".to_owned());
        let me = Identity::new("me", 1);
        let claimed = claimed(&found, &me, &Timings::default(), Timestamp::UNIX_EPOCH);
        assert_eq!(claimed.metadata.annotations, found.metadata.annotations);
        assert_eq!(claimed.metadata.resource_version.as_deref(), Some("4"));
        assert_eq!(claimed.spec.as_ref().unwrap().lease_transitions, Some(1));
        assert!(is_of_jobflow(&claimed) && !is_of_jobflow(&found));
        assert_eq!(holder(&released(&claimed, Timestamp::UNIX_EPOCH)), None);
    }
}
