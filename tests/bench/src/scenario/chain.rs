//! Jobs one after the other: what a level costs beyond the server's own time for its two requests.

use std::time::Duration;

use jobflow_core::Span;
use jobflow_test_volcano::{Course, Options, PodCourse};
use serde_json::Value;

use super::PATIENCE;
use crate::Result;
use crate::bare::Bare;
use crate::figure::{Bound, Figure, milliseconds, percentile};
use crate::flows::{chain, entry_name, flow};
use crate::sightings::{Seen, Sightings};
use crate::stage::Stage;

const LENGTH: usize = 200;
const NAME: &str = "chain";

/// How often the server is asked by hand.
const SAMPLES: usize = 100;

pub(super) async fn measure() -> Result<Vec<Figure>> {
    let stage = Stage::start().await?;
    let namespace = stage.namespace("chain").await?;
    let _volcano = stage.volcano(quick(&namespace)).await?;
    let mut sightings = Sightings::begin(stage.client.clone(), Some(&namespace)).await?;
    stage.apply(&namespace, &flow(NAME, chain(LENGTH))).await?;
    let half = |seen: &Seen| seen.created.len() > LENGTH / 2;
    sightings.until(PATIENCE, half).await?;
    let middle = stage.flow(&namespace, NAME).await?;
    let ended = stage
        .controller
        .until(PATIENCE, |counts| counts.ended_flows() == 1);
    let (_, counts) = ended.await?;
    let mut levels = levels(&sightings.seen(), &namespace);
    let jobs = stage.jobs(&namespace).await?;
    let (put, post) = stage
        .controller
        .paused(servers_own(&stage, &middle, &jobs))
        .await?;
    let own = put + post;
    levels.sort_unstable();
    let mean = levels.iter().sum::<Duration>() / u32::try_from(levels.len().max(1))?;
    let beyond = |span: Duration| milliseconds(span) - milliseconds(own);
    let per_job = |count: u64| count as f64 / LENGTH as f64;
    Ok(vec![
        Figure::new("creates a job", per_job(counts.creates()), "", Bound::AtMost(1.0)),
        // The last one tells the end of the flow.
        Figure::new(
            "status writes a job, urgent or not, but for the last",
            per_job(counts.status_writes().saturating_sub(1)),
            "",
            Bound::AtMost(1.0),
        ),
        Figure::count("conflicts", counts.conflicts(), Bound::AtMost(0.0)),
        Figure::time("the server's own time: a PUT of the status", put, Bound::None),
        Figure::time("the server's own time: a POST of a Job", post, Bound::None),
        Figure::new(
            "a level beyond both, mean",
            beyond(mean),
            "ms",
            Bound::Below(20.0),
        ),
        Figure::new(
            "a level beyond both, median",
            beyond(percentile(&levels, 50)),
            "ms",
            Bound::None,
        ),
        Figure::new(
            "a level beyond both, p99",
            beyond(percentile(&levels, 99)),
            "ms",
            Bound::None,
        ),
    ])
}

/// Jobs that are over as soon as they may be.
fn quick(namespace: &str) -> Options {
    let pods = PodCourse {
        pending_for: Some(Span(1)),
        runs_for: Span(10),
        ..PodCourse::default()
    };
    let course = Course {
        admitted_after: Some(Span(1)),
        ..Course::of(pods)
    };
    Options {
        namespace: Some(namespace.to_owned()),
        course: std::sync::Arc::new(move |_| course.clone()),
        ..Options::default()
    }
}

/// From the sight of each end to the sight of the next Job.
fn levels(seen: &Seen, namespace: &str) -> Vec<Duration> {
    let place = |at: usize| (namespace.to_owned(), format!("{NAME}-{}", entry_name(at)));
    let level = |at: usize| {
        let (ended, next) = (seen.completed.get(&place(at))?, seen.created.get(&place(at + 1))?);
        Some(next.saturating_duration_since(*ended))
    };
    (0..LENGTH - 1).filter_map(level).collect()
}

/// A PUT of the status as it was in the middle of the chain, and a POST of a Job.
async fn servers_own(stage: &Stage, middle: &Value, jobs: &[Value]) -> Result<(Duration, Duration)> {
    let mut bare = Bare::new(stage, chain(LENGTH)).await?;
    let put = bare.status_writes(&middle["status"], SAMPLES).await?;
    let post = bare.creates(jobs.get(..SAMPLES).unwrap_or(jobs)).await?;
    Ok((put, post))
}
