//! Memory of the controller when very many Jobs are alive, and of one that begins when they are.

use std::sync::Arc;

use jobflow_core::Span;
use jobflow_test_volcano::{Course, Detail, Options, PodCourse, PodEnd};

use super::PATIENCE;
use crate::Result;
use crate::figure::{Bound, Figure};
use crate::flows::{flow, side_by_side};
use crate::stage::Stage;

const FLOWS: usize = 10;
const WIDTH: usize = 1_000;
const LIVE: usize = FLOWS * WIDTH;

/// In MB of 2^20 bytes.
const BOUND: Bound = Bound::Below(64.0);

pub(super) async fn measure() -> Result<Vec<Figure>> {
    let mut stage = Stage::start().await?;
    let _volcano = stage.volcano(endless()).await?;
    for _ in 0..FLOWS {
        let namespace = stage.namespace("live").await?;
        stage
            .apply(&namespace, &flow("wide", side_by_side(WIDTH)))
            .await?;
    }
    let alive = stage
        .controller
        .until(PATIENCE, |counts| counts.running() == LIVE as u64);
    alive.await?;
    let first = stage.controller.memory()?;
    stage.restart_controller()?;
    let known = stage
        .controller
        .until(PATIENCE, |counts| counts.running_flows() == FLOWS as u64);
    known.await?;
    let second = stage.controller.memory()?;
    Ok(vec![
        Figure::new("resident, all running", first.resident, "MB", BOUND),
        Figure::new("the most until then", first.most, "MB", BOUND),
        Figure::new("resident, after a restart", second.resident, "MB", BOUND),
        Figure::new("the most of the restart", second.most, "MB", BOUND),
    ])
}

/// Jobs that run for ever.
fn endless() -> Options {
    let pods = PodCourse {
        runs_for: Span::from_secs(3_600),
        ends: vec![PodEnd::Never],
        ..PodCourse::default()
    };
    let course = Course::of(pods);
    Options {
        detail: Detail::Phases,
        course: Arc::new(move |_| course.clone()),
        ..Options::default()
    }
}
