//! What the caller may do with flows in the namespace, as the server itself answers it.

use jobflow_k8s::types::{BATCH_GROUP, FLOW_GROUP};
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use kube::Api;
use kube::api::PostParams;

use super::finding::{Finding, State};
use crate::cluster::Cluster;
use crate::failure::Failure;

const ABOUT: &str = "rights";

/// Something that is done with flows, and the rights that it takes: verb, group, resource.
type Deed = (
    &'static str,
    &'static [(&'static str, &'static str, &'static str)],
);

const DEEDS: [Deed; 5] = [
    (
        "look at flows",
        &[
            ("get", FLOW_GROUP, "jobflows"),
            ("list", FLOW_GROUP, "jobflows"),
            ("watch", FLOW_GROUP, "jobflows"),
            ("list", FLOW_GROUP, "jobtemplates"),
        ],
    ),
    (
        "see their jobs, pods and events",
        &[
            ("list", BATCH_GROUP, "jobs"),
            ("list", "", "pods"),
            ("list", "", "events"),
        ],
    ),
    ("read logs", &[("list", "", "pods"), ("get", "", "pods/log")]),
    (
        "apply flows",
        &[
            ("patch", FLOW_GROUP, "jobflows"),
            ("create", FLOW_GROUP, "jobflows"),
            ("patch", FLOW_GROUP, "jobtemplates"),
            ("create", FLOW_GROUP, "jobtemplates"),
            ("create", BATCH_GROUP, "jobs"),
        ],
    ),
    ("delete flows", &[("delete", FLOW_GROUP, "jobflows")]),
];

/// A finding for each deed.
pub(super) async fn look(cluster: &Cluster) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    for (deed, needed) in DEEDS {
        let mut missing = Vec::new();
        for right in needed {
            if !may(*right, cluster).await? {
                missing.push(shown(*right));
            }
        }
        findings.push(match missing.as_slice() {
            [] => Finding::good(
                ABOUT,
                format!("you may {deed} in namespace {}", cluster.namespace),
            ),
            missing => {
                let said = format!(
                    "you may not {deed} in namespace {}: {}",
                    cluster.namespace,
                    missing.join(", ")
                );
                Finding::new(State::Note, ABOUT, said)
            }
        });
    }
    Ok(findings)
}

async fn may((verb, group, resource): (&str, &str, &str), cluster: &Cluster) -> Result<bool, Failure> {
    let (resource, subresource) = match resource.split_once('/') {
        Some((resource, subresource)) => (resource, Some(subresource)),
        None => (resource, None),
    };
    let review = SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec {
            resource_attributes: Some(ResourceAttributes {
                namespace: Some(cluster.namespace.clone()),
                verb: Some(verb.to_owned()),
                group: Some(group.to_owned()),
                resource: Some(resource.to_owned()),
                subresource: subresource.map(str::to_owned),
                ..ResourceAttributes::default()
            }),
            ..SelfSubjectAccessReviewSpec::default()
        },
        ..SelfSubjectAccessReview::default()
    };
    let api: Api<SelfSubjectAccessReview> = Api::all(cluster.client.clone());
    let answer = cluster
        .ask("ask what you may do", api.create(&PostParams::default(), &review))
        .await?;
    Ok(answer.status.is_some_and(|status| status.allowed))
}

fn shown((verb, group, resource): (&str, &str, &str)) -> String {
    match group {
        "" => format!("{verb} {resource}"),
        group => format!("{verb} {resource}.{group}"),
    }
}
