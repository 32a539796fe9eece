//! What the users of the tests may do.

use k8s_openapi::api::rbac::v1::{RoleBinding, RoleRef, Subject};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::PostParams;
use kube::{Api, Client};

use crate::fault::Fault;
use crate::install;
use crate::users::User;

const GROUP: &str = "rbac.authorization.k8s.io";

/// Installs the roles, and gives the viewer its own.
pub(crate) async fn install(client: &Client) -> Result<(), Fault> {
    install::apply(client, &install::here().join("rights.yaml"), "default").await
}

/// Makes a user a tenant of a namespace.
pub(crate) async fn grant(client: &Client, user: User, namespace: &str) -> Result<(), Fault> {
    let binding = RoleBinding {
        metadata: ObjectMeta {
            generate_name: Some("tenant-".to_owned()),
            ..ObjectMeta::default()
        },
        role_ref: RoleRef {
            api_group: Some(GROUP.to_owned()),
            kind: "ClusterRole".to_owned(),
            name: "jobflow-test-tenant".to_owned(),
        },
        subjects: Some(vec![subject(user)]),
    };
    let api: Api<RoleBinding> = Api::namespaced(client.clone(), namespace);
    let made = api.create(&PostParams::default(), &binding).await;
    let intention = format!("making `{}` a tenant of `{namespace}`", user.name());
    made.map(|_| ()).map_err(Fault::api(intention))
}

fn subject(user: User) -> Subject {
    Subject {
        api_group: Some(GROUP.to_owned()),
        kind: "User".to_owned(),
        name: user.name().to_owned(),
        namespace: None,
    }
}
