//! Very many small flows at once, and a namespace that does its worst beside them: huge flows, flows whose Jobs are
//! refused, and flows that are edited all the time.
//!
//! Nothing lives here: with Jobs that run, the server would be the measure of all things.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use serde_json::json;
use tokio::time::Instant;

use super::PATIENCE;
use crate::Result;
use crate::figure::{Bound, Figure, percentile};
use crate::flows::{chain, entry_name, flow, side_by_side};
use crate::sightings::{Place, Sightings};
use crate::stage::Stage;

const NAMESPACES: usize = 20;
const FLOWS: usize = 50;

/// How many flows are applied at once.
const AT_ONCE: usize = 16;

/// Flows of the hostile namespace, of each kind, and how many entries the large ones have.
const HOSTILE: usize = 20;
const HUGE: usize = 1_000;

/// How many Jobs its quota lets it have: what goes beyond is refused, again and again.
const QUOTA: u32 = 2_000;

pub(super) async fn measure() -> Result<Vec<Figure>> {
    let stage = Stage::start().await?;
    let alone = good_flows(&stage).await?;
    let hostile = hostile(&stage).await?;
    let beside = tokio::select! {
        figures = good_flows(&stage) => figures?,
        failed = edit_for_ever(&stage, &hostile) => return Err(failed),
    };
    let slower = percentile(&beside, 99).as_secs_f64() / percentile(&alone, 99).as_secs_f64();
    let mut figures = of("alone", &alone);
    figures.extend(of("beside a hostile namespace", &beside));
    figures.push(Figure::new(
        "p99 beside it, times that alone",
        slower,
        "",
        Bound::None,
    ));
    Ok(figures)
}

fn of(when: &str, times: &[Duration]) -> Vec<Figure> {
    let missing = (NAMESPACES * FLOWS).saturating_sub(times.len());
    let at = |what: &str, percent: usize| {
        Figure::time(format!("{when}: {what}"), percentile(times, percent), Bound::None)
    };
    vec![
        Figure::count(
            format!("{when}: flows that never start"),
            missing as u64,
            Bound::AtMost(0.0),
        ),
        at("p50", 50),
        at("p99", 99),
        at("the slowest", 100),
    ]
}

/// Applies them all; how long each took from then to its first Job, in order of length.
async fn good_flows(stage: &Stage) -> Result<Vec<Duration>> {
    let mut namespaces = Vec::new();
    for _ in 0..NAMESPACES {
        namespaces.push(stage.namespace("good").await?);
    }
    let mut sightings = Sightings::begin(stage.client.clone(), None).await?;
    let places = (0..FLOWS).flat_map(|number| {
        let of = move |namespace: &String| (namespace.clone(), format!("good{number}"));
        namespaces.iter().map(of)
    });
    let apply = async |(namespace, name): Place| {
        let began = Instant::now();
        stage.apply(&namespace, &flow(&name, chain(2))).await?;
        let first: Place = (namespace, format!("{name}-{}", entry_name(0)));
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>((first, began))
    };
    let applied = futures::stream::iter(places.map(apply)).buffer_unordered(AT_ONCE);
    let applied: Vec<(Place, Instant)> = applied.try_collect().await?;
    let all = sightings.until(PATIENCE, |seen| {
        applied.iter().all(|(first, _)| seen.created.contains_key(first))
    });
    // One that doesn't come in time is counted below.
    let _all_came = all.await;
    let seen = sightings.seen();
    let took = applied.iter().filter_map(|(first, began)| {
        let created = seen.created.get(first)?;
        Some(created.saturating_duration_since(*began))
    });
    let mut took: Vec<Duration> = took.collect();
    took.sort_unstable();
    Ok(took)
}

/// A namespace at its worst, begun; its name.
async fn hostile(stage: &Stage) -> Result<String> {
    let namespace = stage.namespace("hostile").await?;
    let quota = json!({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "jobs"},
        "spec": {"hard": {"count/jobs.batch.volcano.sh": QUOTA.to_string()}},
    });
    stage
        .create(&format!("/api/v1/namespaces/{namespace}/resourcequotas"), &quota)
        .await?;
    for number in 0..HOSTILE {
        let huge = flow(&format!("huge{number}"), side_by_side(HUGE));
        stage.apply(&namespace, &huge).await?;
        let edited = flow(&format!("edited{number}"), chain(2));
        stage.apply(&namespace, &edited).await?;
    }
    Ok(namespace)
}

/// Changes flows as fast as the server takes it, one change of each at a time. Comes back only if that fails.
async fn edit_for_ever(stage: &Stage, namespace: &str) -> Box<dyn std::error::Error + Send + Sync> {
    let edits = (0..HOSTILE).map(async |number| {
        for round in 1_u32.. {
            let spec = json!({"parallelism": round});
            stage.edit(namespace, &format!("edited{number}"), spec).await?;
        }
        Ok(())
    });
    match futures::future::try_join_all(edits).await {
        Ok(_) => "there are no more numbers".into(),
        Err(error) => error,
    }
}
