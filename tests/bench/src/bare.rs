//! What the server alone takes for the requests that a controller can't do without: the same objects, sent by hand.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::Result;
use crate::figure::median;
use crate::flows;
use crate::stage::Stage;

/// The name of the flow that owns bare Jobs.
const FLOW: &str = "bare";

/// A namespace with a flow that no controller has touched.
pub(crate) struct Bare<'a> {
    stage: &'a Stage,
    namespace: String,
    flow: Value,
}

impl<'a> Bare<'a> {
    /// A flow with these entries. The controller must stand still, or it runs it.
    pub(crate) async fn new(stage: &'a Stage, entries: Vec<Value>) -> Result<Self> {
        let namespace = stage.namespace("bare").await?;
        let flow = stage.apply(&namespace, &flows::flow(FLOW, entries)).await?;
        Ok(Self {
            stage,
            namespace,
            flow,
        })
    }

    /// Writes this status so many times, each a little different; the median.
    pub(crate) async fn status_writes(&mut self, status: &Value, times: usize) -> Result<Duration> {
        let mut samples = Vec::new();
        for number in 0..times {
            let metadata = &self.flow["metadata"];
            let mut object = json!({
                "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow",
                "metadata": {
                    "name": FLOW, "namespace": self.namespace, "uid": metadata["uid"],
                    "resourceVersion": metadata["resourceVersion"],
                },
                "status": status,
            });
            object["status"]["progress"] = format!("{number}/{times}").into();
            let began = Instant::now();
            self.flow = self.stage.put_status(&self.namespace, FLOW, &object).await?;
            samples.push(began.elapsed());
        }
        Ok(median(samples))
    }

    /// Creates these Jobs one after the other; the median.
    pub(crate) async fn creates(&self, jobs: &[Value]) -> Result<Duration> {
        let mut samples = Vec::new();
        for job in jobs {
            let job = self.owned(job);
            let began = Instant::now();
            self.stage.create_job(&self.namespace, &job).await?;
            samples.push(began.elapsed());
        }
        Ok(median(samples))
    }

    /// Creates these Jobs, so many at once; how many a second.
    pub(crate) async fn create_rate(&self, jobs: &[Value], at_once: usize) -> Result<f64> {
        let jobs: Vec<Value> = jobs.iter().map(|job| self.owned(job)).collect();
        let began = Instant::now();
        let creates = jobs.iter().map(|job| self.stage.create_job(&self.namespace, job));
        let done = futures::stream::iter(creates).buffer_unordered(at_once);
        let done: Vec<Value> = done.try_collect().await?;
        Ok(done.len() as f64 / began.elapsed().as_secs_f64())
    }

    /// A Job as it was sent by the controller, but for who owns it.
    fn owned(&self, job: &Value) -> Value {
        let metadata = &job["metadata"];
        let mut owners = metadata["ownerReferences"].clone();
        owners[0]["name"] = FLOW.into();
        owners[0]["uid"] = self.flow["metadata"]["uid"].clone();
        json!({
            "apiVersion": job["apiVersion"], "kind": job["kind"],
            "metadata": {
                "name": metadata["name"], "labels": metadata["labels"],
                "annotations": metadata["annotations"], "ownerReferences": owners,
            },
            "spec": job["spec"],
        })
    }
}
