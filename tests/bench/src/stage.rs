//! A control plane, the controller on it, and what the scenarios ask of the API server.

use http::{Method, Request};
use jobflow_test_cluster::{ControlPlane, User};
use jobflow_test_volcano::{Options, Volcano};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::Value;

use crate::Result;
use crate::controller::Controller;
use crate::flows;

const FLOWS: &str = "/apis/flow.volcano.sh/v1alpha1";
const JOBS: &str = "/apis/batch.volcano.sh/v1alpha1";

/// One scenario's world; ends with it.
pub(crate) struct Stage {
    cluster: ControlPlane,
    pub(crate) client: Client,
    pub(crate) controller: Controller,
}

impl Stage {
    /// Starts everything but Volcano.
    pub(crate) async fn start() -> Result<Self> {
        let cluster = ControlPlane::start(jobflow_test_cluster::Options::default())?;
        let client = client(&cluster, User::Admin).await?;
        let controller = Controller::start(&cluster.kubeconfig(User::Admin))?;
        Ok(Self {
            cluster,
            client,
            controller,
        })
    }

    /// Another controller in the place of the one that runs.
    pub(crate) fn restart_controller(&mut self) -> Result<()> {
        self.controller = Controller::start(&self.cluster.kubeconfig(User::Admin))?;
        Ok(())
    }

    /// A namespace with the template in it.
    pub(crate) async fn namespace(&self, prefix: &str) -> Result<String> {
        let namespace = self.cluster.namespace(prefix).await?;
        let path = format!("{FLOWS}/namespaces/{namespace}/jobtemplates");
        self.send(Method::POST, &path, &flows::template()).await?;
        Ok(namespace)
    }

    /// Lets Jobs live.
    pub(crate) async fn volcano(&self, options: Options) -> Result<Volcano> {
        Ok(Volcano::start(client(&self.cluster, User::Volcano).await?, options).await?)
    }

    /// Creates a flow.
    pub(crate) async fn apply(&self, namespace: &str, flow: &Value) -> Result<Value> {
        let path = format!("{FLOWS}/namespaces/{namespace}/jobflows");
        self.send(Method::POST, &path, flow).await
    }

    /// Changes the spec of a flow.
    pub(crate) async fn edit(&self, namespace: &str, name: &str, spec: Value) -> Result<Value> {
        let request = Request::builder()
            .method(Method::PATCH)
            .uri(flow_path(namespace, name))
            .header("Content-Type", "application/merge-patch+json");
        let body = serde_json::json!({"spec": spec}).to_string().into_bytes();
        Ok(self.client.request(request.body(body)?).await?)
    }

    /// A flow, as many bytes as the server sends.
    pub(crate) async fn flow_text(&self, namespace: &str, name: &str) -> Result<String> {
        let request = Request::get(flow_path(namespace, name)).body(Vec::new())?;
        Ok(self.client.request_text(request).await?)
    }

    /// A flow.
    pub(crate) async fn flow(&self, namespace: &str, name: &str) -> Result<Value> {
        Ok(serde_json::from_str(&self.flow_text(namespace, name).await?)?)
    }

    /// Replaces a flow's status.
    pub(crate) async fn put_status(&self, namespace: &str, name: &str, object: &Value) -> Result<Value> {
        let path = format!("{}/status", flow_path(namespace, name));
        self.send(Method::PUT, &path, object).await
    }

    /// Creates a Job.
    pub(crate) async fn create_job(&self, namespace: &str, job: &Value) -> Result<Value> {
        let path = format!("{JOBS}/namespaces/{namespace}/jobs");
        self.send(Method::POST, &path, job).await
    }

    /// All Jobs of a namespace.
    pub(crate) async fn jobs(&self, namespace: &str) -> Result<Vec<Value>> {
        let request = Request::get(format!("{JOBS}/namespaces/{namespace}/jobs")).body(Vec::new())?;
        let list: Value = self.client.request(request).await?;
        let items = list["items"].as_array().ok_or("no list of Jobs")?;
        Ok(items.clone())
    }

    /// Creates an object at a path.
    pub(crate) async fn create(&self, path: &str, object: &Value) -> Result<Value> {
        self.send(Method::POST, path, object).await
    }

    async fn send(&self, method: Method, path: &str, body: &Value) -> Result<Value> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("Content-Type", "application/json");
        let request = request.body(body.to_string().into_bytes())?;
        Ok(self.client.request(request).await?)
    }
}

/// A client as the controller's is, so that requests by hand are no slower than they have to be.
async fn client(cluster: &ControlPlane, user: User) -> Result<Client> {
    let kubeconfig = Kubeconfig::read_from(cluster.kubeconfig(user))?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(jobflow_controller::connect(config)?)
}

fn flow_path(namespace: &str, name: &str) -> String {
    format!("{FLOWS}/namespaces/{namespace}/jobflows/{name}")
}
