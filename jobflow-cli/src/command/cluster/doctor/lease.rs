//! The Lease of the controller: who holds it, whether that is one of ours, and when it was last renewed.

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use kube::Api;

use super::controller::ABOUT;
use super::finding::{Finding, State};
use crate::arguments::cluster::DoctorArguments;
use crate::cluster::Cluster;
use crate::cluster::refusal::refusal;
use crate::failure::Failure;
use crate::past::now;
use crate::table::span;

/// The label that every controller of jobflow writes on its Lease.
const OURS: (&str, &str) = ("app.kubernetes.io/name", "jobflow-controller");

/// Reads it, and says whether a controller leads.
pub(super) async fn look(arguments: &DoctorArguments, cluster: &Cluster) -> Result<Finding, Failure> {
    let (namespace, name) = (&arguments.controller_namespace, &arguments.lease);
    let api: Api<Lease> = Api::namespaced(cluster.client.clone(), namespace);
    let intent = format!("read the Lease {namespace}/{name}");
    match cluster.attempt(&intent, api.get(name)).await? {
        Ok(lease) => Ok(judge(&lease, namespace, name, now())),
        Err(kube::Error::Api(status)) if status.code == 403 => {
            let said = format!(
                "you may not read the Lease {namespace}/{name}, so it can't be told whether one leads"
            );
            Ok(Finding::new(State::Unknown, ABOUT, said))
        }
        Err(kube::Error::Api(status)) if status.code == 404 => {
            let said =
                format!("there is no Lease {namespace}/{name}: no controller of jobflow has ever led there");
            let help = "install the controller, or say where it is with --controller-namespace and --lease";
            Ok(Finding::bad(ABOUT, said).with_help(help))
        }
        Err(error) => Err(refusal(&intent, &error)),
    }
}

/// What a Lease says at a time, in milliseconds since 1970.
fn judge(lease: &Lease, namespace: &str, name: &str, now: i64) -> Finding {
    let nothing = LeaseSpec::default();
    let spec = lease.spec.as_ref().unwrap_or(&nothing);
    let holder = spec.holder_identity.as_deref();
    let help = format!("look at it with: kubectl -n {namespace} get pods");
    let Some((holder, renewed)) = holder
        .filter(|holder| !holder.is_empty())
        .zip(spec.renew_time.as_ref())
    else {
        let said = format!("nobody holds the Lease {namespace}/{name}");
        return Finding::bad(ABOUT, said).with_help(help);
    };
    if !is_ours(lease) {
        let said =
            format!("the Lease {namespace}/{name} is held by {holder}, which is no jobflow-controller");
        let help = "start the controller with another --lease-name, and name it here with --lease";
        return Finding::bad(ABOUT, said).with_help(help);
    }
    let ago = now.saturating_sub(renewed.0.as_millisecond());
    let seconds = i64::from(spec.lease_duration_seconds.unwrap_or(0));
    if ago <= seconds.saturating_mul(1_000) {
        return Finding::good(ABOUT, format!("{holder} leads, seen {} ago", span(ago)));
    }
    let said = format!(
        "{holder} held the Lease {namespace}/{name}, and was last seen {} ago",
        span(ago)
    );
    Finding::bad(ABOUT, said).with_help(help)
}

fn is_ours(lease: &Lease) -> bool {
    let (key, value) = OURS;
    let labels = lease.metadata.labels.as_ref();
    labels
        .and_then(|labels| labels.get(key))
        .is_some_and(|found| found == value)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
    use k8s_openapi::jiff::Timestamp;

    use super::*;

    /// A quarter of a minute, renewed at 1970.
    fn lease(holder: &str) -> Lease {
        let mut lease = Lease {
            spec: Some(LeaseSpec {
                holder_identity: Some(holder.to_owned()),
                lease_duration_seconds: Some(15),
                renew_time: Some(MicroTime(Timestamp::UNIX_EPOCH)),
                ..LeaseSpec::default()
            }),
            ..Lease::default()
        };
        lease.metadata.labels = Some([(OURS.0.to_owned(), OURS.1.to_owned())].into());
        lease
    }

    fn check(lease: &Lease, now: i64, expected: Finding) {
        assert_eq!(judge(lease, "ns", "l", now), expected);
    }

    fn unheld(said: &str) -> Finding {
        Finding::bad(ABOUT, said).with_help("look at it with: kubectl -n ns get pods")
    }

    #[test]
    fn a_lease_of_ours_that_is_renewed_is_good_to_the_end_of_its_duration() {
        check(
            &lease("pod_1"),
            15_000,
            Finding::good(ABOUT, "pod_1 leads, seen 15s ago"),
        );
        // The clocks of two machines differ.
        check(
            &lease("pod_1"),
            -5_000,
            Finding::good(ABOUT, "pod_1 leads, seen 0s ago"),
        );
    }

    #[test]
    fn an_expired_lease_tells_who_held_it_and_when_they_were_seen() {
        let said = "pod_1 held the Lease ns/l, and was last seen 2m05s ago";
        check(&lease("pod_1"), 125_000, unheld(said));
    }

    #[test]
    fn a_lease_that_was_given_up_is_held_by_nobody() {
        check(&lease(""), 1_000, unheld("nobody holds the Lease ns/l"));
        check(&Lease::default(), 1_000, unheld("nobody holds the Lease ns/l"));
    }

    #[test]
    fn a_program_of_another_kind_that_holds_the_lease_leads_nothing() {
        let mut theirs = lease("scheduler_1");
        theirs.metadata.labels = None;
        let said = "the Lease ns/l is held by scheduler_1, which is no jobflow-controller";
        let help = "start the controller with another --lease-name, and name it here with --lease";
        check(&theirs, 1_000, Finding::bad(ABOUT, said).with_help(help));
    }
}
