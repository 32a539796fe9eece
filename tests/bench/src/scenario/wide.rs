//! Many jobs at once: how fast they are created, against the same objects sent by hand, and what is written until all
//! have ended.

use jobflow_test_volcano::Options;
use serde_json::Value;
use tokio::time::Instant;

use super::PATIENCE;
use crate::Result;
use crate::bare::Bare;
use crate::controller::Counts;
use crate::figure::{Bound, Figure};
use crate::flows::{flow, side_by_side};
use crate::stage::Stage;

const WIDTH: usize = 1_000;
const NAME: &str = "wide";

/// Both are measured by turns, so that neither has the better moments of the machine.
const ROUNDS: usize = 3;

/// How many requests by hand are on their way at once; the fastest counts.
const AT_ONCE: [usize; 2] = [16, 64];

pub(super) async fn measure() -> Result<Vec<Figure>> {
    let stage = Stage::start().await?;
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 1..ROUNDS {
        let namespace = stage.namespace("wide").await?;
        ours.push(create_all(&stage, &namespace).await?);
        bare.push(by_hand(&stage, &namespace).await?);
    }
    let before = stage.controller.counts().await?;
    let namespace = stage.namespace("wide").await?;
    ours.push(create_all(&stage, &namespace).await?);
    let options = Options {
        namespace: Some(namespace.clone()),
        ..Options::default()
    };
    let _volcano = stage.volcano(options).await?;
    let ended = stage
        .controller
        .until(PATIENCE, |counts| counts.ended_flows() == 1);
    let (_, after) = ended.await?;
    bare.push(by_hand(&stage, &namespace).await?);
    let since = |count: fn(&Counts) -> u64| count(&after) - count(&before);
    let per_job = |count: u64| count as f64 / WIDTH as f64;
    let (ours, bare) = (middle(ours), middle(bare));
    let requests = since(Counts::creates) + since(Counts::status_writes);
    Ok(vec![
        Figure::new("creates", ours, "a second", Bound::None),
        Figure::new("the same objects by hand", bare, "a second", Bound::None),
        Figure::new(
            "creates as a share of that",
            100.0 * ours / bare,
            "%",
            Bound::AtLeast(90.0),
        ),
        Figure::new(
            "creates and status writes a job, urgent or not",
            per_job(requests),
            "",
            Bound::AtMost(1.1),
        ),
        Figure::count("conflicts", after.conflicts(), Bound::AtMost(0.0)),
    ])
}

fn middle(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or_default()
}

/// Applies the flow; how many Jobs a second are created, from the first one on.
async fn create_all(stage: &Stage, namespace: &str) -> Result<f64> {
    let before = stage.controller.counts().await?.creates();
    stage.apply(namespace, &flow(NAME, side_by_side(WIDTH))).await?;
    let created = |counts: &Counts| counts.creates() - before;
    let first = stage.controller.until(PATIENCE, |counts| created(counts) > 0);
    let (began, first) = first.await?;
    let all = |counts: &Counts| created(counts) == WIDTH as u64;
    let (done, _) = stage.controller.until(PATIENCE, all).await?;
    let rest = WIDTH as u64 - created(&first);
    Ok(rest as f64 / seconds(began, done))
}

fn seconds(began: Instant, done: Instant) -> f64 {
    done.saturating_duration_since(began).as_secs_f64()
}

/// The Jobs of that namespace once more, by hand, while the controller stands still.
async fn by_hand(stage: &Stage, namespace: &str) -> Result<f64> {
    let jobs: Vec<Value> = stage.jobs(namespace).await?;
    let work = async {
        let mut fastest = 0.0_f64;
        for at_once in AT_ONCE {
            let bare = Bare::new(stage, side_by_side(WIDTH)).await?;
            fastest = fastest.max(bare.create_rate(&jobs, at_once).await?);
        }
        Ok(fastest)
    };
    stage.controller.paused(work).await
}
