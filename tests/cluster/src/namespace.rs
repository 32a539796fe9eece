//! A namespace a test.

use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::PostParams;
use kube::{Api, Client};

use crate::fault::Fault;
use crate::ready;

/// Makes one with a name that the server chooses, and waits for what pods in it need.
pub(crate) async fn make(client: &Client, prefix: &str) -> Result<String, Fault> {
    let metadata = ObjectMeta {
        generate_name: Some(format!("{prefix}-")),
        ..ObjectMeta::default()
    };
    let namespace = Namespace {
        metadata,
        ..Namespace::default()
    };
    let api: Api<Namespace> = Api::all(client.clone());
    let made = api.create(&PostParams::default(), &namespace).await;
    let made = made.map_err(Fault::api(format!("making a namespace `{prefix}-…`")))?;
    let name = made.metadata.name.unwrap_or_default();
    default_account(client, &name).await?;
    Ok(name)
}

/// No pod is accepted before the service account `default` is there.
async fn default_account(client: &Client, namespace: &str) -> Result<(), Fault> {
    let api: Api<ServiceAccount> = Api::namespaced(client.clone(), namespace);
    let found = || async {
        let account = api.get_opt("default").await;
        let account = account.map_err(Fault::api("reading the service account `default`"))?;
        Ok(account.map(|_| ()))
    };
    ready::wait_for(&format!("a service account in `{namespace}`"), found).await
}
