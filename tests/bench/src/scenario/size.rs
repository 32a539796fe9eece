//! How large flows become, with everything that Volcano writes about their Jobs, and how long the server takes to store
//! such a status.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::StreamExt;
use jobflow_test_volcano::Options;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, watcher};
use kube::{Api, Client};
use tokio::task::JoinHandle;

use super::PATIENCE;
use crate::Result;
use crate::bare::Bare;
use crate::figure::{Bound, Figure};
use crate::flows::{flow, side_by_side};
use crate::stage::Stage;

/// Jobs, and how many kilobytes of 1,000 bytes a flow with them may have.
const BUDGETS: [(usize, f64); 3] = [(100, 75.0), (300, 110.0), (1_000, 250.0)];
const NAME: &str = "wide";

/// How often a status is stored.
const SAMPLES: usize = 20;

pub(super) async fn measure() -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (jobs, budget) in BUDGETS {
        figures.extend(of(jobs, budget).await?);
    }
    Ok(figures)
}

async fn of(width: usize, budget: f64) -> Result<[Figure; 2]> {
    let stage = Stage::start().await?;
    let namespace = stage.namespace("size").await?;
    let _volcano = stage.volcano(Options::default()).await?;
    let largest = Largest::begin(stage.client.clone(), &namespace);
    stage.apply(&namespace, &flow(NAME, side_by_side(width))).await?;
    let ended = stage
        .controller
        .until(PATIENCE, |counts| counts.ended_flows() == 1);
    ended.await?;
    let status = stage.flow(&namespace, NAME).await?["status"].take();
    let put = async {
        let mut bare = Bare::new(&stage, side_by_side(width)).await?;
        bare.status_writes(&status, SAMPLES).await
    };
    let put = stage.controller.paused(put).await?;
    let size = stage.flow_text(&namespace, NAME).await?.len().max(largest.size());
    Ok([
        Figure::new(
            format!("{width} jobs: the object at its largest"),
            size as f64 / 1_000.0,
            "KB",
            Bound::AtMost(budget),
        ),
        Figure::time(
            format!("{width} jobs: a PUT of the last status"),
            put,
            Bound::None,
        ),
    ])
}

/// The largest version of any flow that a watch has shown, as JSON without spaces.
struct Largest {
    size: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Largest {
    fn begin(client: Client, namespace: &str) -> Self {
        let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("flow.volcano.sh", "v1alpha1", "JobFlow"));
        let api: Api<DynamicObject> = Api::namespaced_with(client, namespace, &kind);
        let size = Arc::<AtomicUsize>::default();
        let known = Arc::clone(&size);
        let task = tokio::spawn(async move {
            let flows = watcher(api, watcher::Config::default()).applied_objects();
            let mut flows = std::pin::pin!(flows);
            while let Some(shown) = flows.next().await {
                let bytes = shown.ok().and_then(|flow| serde_json::to_vec(&flow).ok());
                known.fetch_max(bytes.map_or(0, |bytes| bytes.len()), Ordering::Relaxed);
            }
        });
        Self { size, task }
    }

    fn size(&self) -> usize {
        self.size.load(Ordering::Relaxed)
    }
}

impl Drop for Largest {
    fn drop(&mut self) {
        self.task.abort();
    }
}
