//! Conformance scripts, played by the driver for a cluster on a real API server: the fourth way, with the histories of
//! the others.
//!
//! All are played side by side, each in a namespace of its own, by one driver and one stand-in for Volcano; a few at once,
//! since time is the wall's here and a script tells seconds.

#![expect(clippy::unwrap_used, reason = "a test says so when something is missing")]

#[path = "conformance/ear.rs"]
mod ear;
#[path = "conformance/player.rs"]
mod player;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use jobflow_core::Span;
use jobflow_core::testing::Act;
use jobflow_k8s::client::{Driver, Observer, Settings};
use jobflow_test_cluster::{ControlPlane, User};
use jobflow_test_volcano::{Options, Volcano};
use jobflow_tests::scripts::{self, Told};
use tokio::task::JoinSet;

use ear::Ear;
use player::{course, play, seen};

/// How many scripts are played at once.
const AT_ONCE: usize = 16;

/// The longest script that is played, by its own clock.
const LONGEST: Span = Span::from_secs(120);

/// Why a script isn't played here.
fn kept_back(told: &Told) -> Option<&'static str> {
    let forgets = told.script.acts.iter().any(|(_, act)| *act == Act::Forget);
    let restart = || forgets.then_some("a restart in the middle: there is one driver for all");
    let long = || (length(told) > LONGEST).then_some("it takes too long by the wall's clock");
    told.kept_from_clusters().or_else(restart).or_else(long)
}

/// How long a script takes in the made-up world.
fn length(told: &Told) -> Span {
    told.script.play().unwrap().now.since(jobflow_core::Time(0))
}

/// The longest come first, so that nothing is waited for at the end.
fn chosen() -> (Vec<Told>, BTreeMap<&'static str, usize>) {
    let wanted = std::env::var("SCRIPT").unwrap_or_default();
    let (mut chosen, mut back) = (Vec::new(), BTreeMap::new());
    for told in scripts::all()
        .into_iter()
        .filter(|told| told.name.contains(&wanted))
    {
        match kept_back(&told) {
            Some(why) => *back.entry(why).or_default() += 1,
            None => chosen.push(told),
        }
    }
    chosen.sort_by_key(|told| std::cmp::Reverse(length(told)));
    (chosen, back)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_script_has_the_history_that_it_tells() {
    let cluster = ControlPlane::shared().unwrap();
    let ear = Arc::<Ear>::default();
    let (lives, witness) = (Arc::clone(&ear), Arc::clone(&ear));
    let options = Options {
        pods: true,
        course: Arc::new(move |asked| course(&lives, asked)),
        seen: Arc::new(move |asked, phase| seen(&witness, asked, phase)),
        ..Options::default()
    };
    let volcano = Volcano::start(cluster.client(User::Volcano).await.unwrap(), options);
    let volcano = volcano.await.unwrap();
    let client = cluster.client(User::Admin).await.unwrap();
    let mut settings = Settings::default();
    // A change is told when it is written, and Jobs wait for that.
    settings.status_interval = Duration::from_millis(20);
    let driver = Driver::new(client.clone(), settings).with_observer(Arc::clone(&ear) as Arc<dyn Observer>);
    let mut tasks = JoinSet::new();
    tasks.spawn(driver.run());

    let (chosen, back) = chosen();
    let played = chosen.len();
    let differences = chosen.into_iter().map(async |told| {
        let namespace = cluster.namespace("script").await.unwrap();
        play(&told, client.clone(), &namespace, &ear).await
    });
    let wrong: Vec<String> = futures::stream::iter(differences)
        .buffer_unordered(AT_ONCE)
        .flat_map(futures::stream::iter)
        .collect()
        .await;
    println!("{played} scripts were played on a real API server; kept back: {back:?}");
    let complaints = volcano.complaints();
    assert!(wrong.is_empty(), "\n{}\n{complaints:?}", wrong.join("\n"));
}
