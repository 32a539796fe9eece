//! Volcano's admission of Jobs, as a webhook for one namespace: it refuses what Volcano refuses, in Volcano's words.
//!
//! Comes in: Jobs to be created. Goes out: a verdict from the Job and the queues that there are. Deliberately absent: what
//! Volcano's admission changes in a Job; whoever reads one applies those defaults.

mod serve;
mod verdict;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use kube::api::{DeleteParams, PostParams};
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::fault::Fault;

/// How often it is looked whether the API server asks: half a minute.
const TRIES: usize = 600;

/// The webhook of one namespace. When it is dropped nobody answers any more and Jobs are refused, as when Volcano is down.
pub struct Admission {
    server: JoinHandle<()>,
    client: Client,
    name: String,
}

impl Admission {
    /// Asks for every Job that is created in `namespace` from now on.
    ///
    /// # Errors
    ///
    /// If no port can be listened on, or the API server doesn't take the webhook.
    pub async fn start(client: Client, namespace: &str) -> Result<Self, Fault> {
        let server = serve::Server::bind().await.map_err(Fault::webhook)?;
        let configuration = configuration(namespace, server.port(), server.certificate())?;
        let name = configuration.name_any();
        let api: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
        let made = api.create(&PostParams::default(), &configuration).await;
        made.map_err(Fault::api("making the admission webhook"))?;
        let server = tokio::spawn(server.run(client.clone()));
        let admission = Self { server, client, name };
        admission.wait_until_asked(namespace).await?;
        Ok(admission)
    }

    /// Takes the webhook away: Jobs are accepted again without being looked at.
    ///
    /// # Errors
    ///
    /// If the API server refuses it.
    pub async fn remove(self) -> Result<(), Fault> {
        let api: Api<ValidatingWebhookConfiguration> = Api::all(self.client.clone());
        let removed = api.delete(&self.name, &DeleteParams::default()).await;
        removed
            .map(drop)
            .map_err(Fault::api("removing the admission webhook"))
    }

    /// The API server takes a moment until it asks; a Job without sense that is never stored tells when.
    async fn wait_until_asked(&self, namespace: &str) -> Result<(), Fault> {
        let jobs = verdict::jobs(&self.client, namespace);
        let dry = PostParams {
            dry_run: true,
            ..PostParams::default()
        };
        let probe = verdict::probe();
        for _ in 0..TRIES {
            if jobs.create(&dry, &probe).await.is_err() {
                return Ok(());
            }
            sleep(Duration::from_millis(50)).await;
        }
        Err(Fault::webhook("the API server doesn't ask it"))
    }
}

impl std::fmt::Debug for Admission {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Admission").field(&self.name).finish()
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn configuration(
    namespace: &str,
    port: u16,
    certificate: &str,
) -> Result<ValidatingWebhookConfiguration, Fault> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let configuration = json!({
        "metadata": { "name": format!("jobs-validate-{namespace}-{}", since.as_nanos()) },
        "webhooks": [{
            "name": "validatejob.volcano.sh",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
            "timeoutSeconds": 5,
            "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": namespace } },
            "rules": [{
                "apiGroups": ["batch.volcano.sh"],
                "apiVersions": ["v1alpha1"],
                "operations": ["CREATE"],
                "resources": ["jobs"],
            }],
            "clientConfig": {
                "url": format!("https://127.0.0.1:{port}/jobs/validate"),
                "caBundle": STANDARD.encode(certificate),
            },
        }],
    });
    serde_json::from_value(configuration).map_err(Fault::webhook)
}
