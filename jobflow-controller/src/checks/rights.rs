//! Asks the server whether the controller may do what it has to.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use kube::api::PostParams;
use kube::{Api, Client};

use super::Reports;
use crate::arguments::Settings;
use crate::findings::Check;
use crate::findings::rights::{Question, questions};

/// Who reports.
pub(super) const WHO: &str = "rights";
/// How often everything is asked anew.
const PERIOD: Duration = Duration::from_secs(300);
/// How often, as long as something is missing or could not be asked.
const AGAIN: Duration = Duration::from_secs(20);
/// Questions on their way at once.
const AT_ONCE: usize = 4;

/// For ever.
pub(super) async fn ask(client: &Client, settings: &Settings, lease_namespace: &str, reports: &Reports) {
    let questions = questions(settings, lease_namespace);
    let reviews: Api<SelfSubjectAccessReview> = Api::all(client.clone());
    loop {
        let missing = futures::stream::iter(questions.clone())
            .map(|question| refused(&reviews, question))
            .buffered(AT_ONCE)
            .try_filter_map(|line| std::future::ready(Ok(line)))
            .try_collect::<Vec<_>>()
            .await;
        let wait = match &missing {
            Ok(missing) if missing.is_empty() => PERIOD,
            Ok(_) | Err(_) => AGAIN,
        };
        match missing {
            Ok(missing) => reports.report(WHO, Check::NotPermitted, missing),
            Err(error) => reports.report(WHO, Check::NotChecked, vec![format!("rights: {error}")]),
        }
        tokio::time::sleep(wait).await;
    }
}

/// What to say if the answer is no.
async fn refused(
    reviews: &Api<SelfSubjectAccessReview>,
    question: Question,
) -> Result<Option<String>, kube::Error> {
    let review = SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec {
            resource_attributes: Some(ResourceAttributes {
                group: Some(question.group.to_owned()),
                resource: Some(question.resource.to_owned()),
                subresource: question.subresource.map(str::to_owned),
                verb: Some(question.verb.to_owned()),
                namespace: question.namespace.clone(),
                name: question.name.clone(),
                ..ResourceAttributes::default()
            }),
            ..SelfSubjectAccessReviewSpec::default()
        },
        ..SelfSubjectAccessReview::default()
    };
    let answer = reviews.create(&PostParams::default(), &review).await?;
    let allowed = answer.status.is_some_and(|status| status.allowed);
    Ok((!allowed).then(|| question.text()))
}
