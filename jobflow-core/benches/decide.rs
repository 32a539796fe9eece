//! How long it takes to build a graph and to plan, against the bounds that are promised.
//!
//! `cargo bench -p jobflow-core --features testing` ends with one line a figure: the median, its bound, and the fastest
//! run, which tells a slow machine from slow code.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark reads the clock, prints what it found, and says so when something is missing"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion};
use jobflow_core::condition::{Condition, TaskCondition, TaskStatus};
use jobflow_core::facts::{Answer, FactKey};
use jobflow_core::gang::JobPhase;
use jobflow_core::graph::Entry;
use jobflow_core::plan::{Judged, Judgement, judge};
use jobflow_core::probe::{Ask, HttpGet, Probe, ProbeAnswer, Replicas};
use jobflow_core::retry::splitmix64;
use jobflow_core::snapshot::Sighting;
use jobflow_core::testing::{End, Life, World};
use jobflow_core::verdict::AtLeast;
use jobflow_core::{FactCache, FlowGraph, JobKey, NodeId, Policy, Snapshot, Span, Time, plan};

/// What was measured of one thing.
struct Figure {
    name: &'static str,
    bound: Duration,
    samples: Vec<Duration>,
}

impl Figure {
    /// The median; the samples are in order then.
    fn median(&mut self) -> Duration {
        self.samples.sort_unstable();
        self.samples
            .get(self.samples.len() / 2)
            .copied()
            .unwrap_or_default()
    }
}

/// Measures `work` on inputs that `prepare` makes outside the measured time.
fn measure<I, O>(
    criterion: &mut Criterion,
    name: &'static str,
    bound: Duration,
    mut prepare: impl FnMut() -> I,
    mut work: impl FnMut(I) -> O,
) -> Figure {
    let mut samples = Vec::new();
    criterion.bench_function(name, |bencher| {
        bencher.iter_batched(
            &mut prepare,
            |input| {
                let start = Instant::now();
                let output = black_box(work(black_box(input)));
                samples.push(start.elapsed());
                output
            },
            BatchSize::PerIteration,
        );
    });
    Figure { name, bound, samples }
}

const ENTRIES: u32 = 100_000;

/// Two targets for each entry but the first ones, drawn from those before it.
fn targets(position: u32) -> impl Iterator<Item = u32> {
    let draw = splitmix64(u64::from(position));
    let before = u64::from(position.max(1));
    let pick = [draw % before, (draw >> 32) % before];
    pick.into_iter()
        .take(if position == 0 { 0 } else { 2 })
        .map(|target| target as u32)
}

fn by_names() -> Vec<Entry<Arc<str>>> {
    let name = |position: u32| Arc::<str>::from(format!("entry-{position}"));
    (0..ENTRIES)
        .map(|position| Entry::job(name(position)).after(targets(position).map(name)))
        .collect()
}

fn by_ids() -> Vec<Entry> {
    let name: Arc<str> = "entry".into();
    (0..ENTRIES)
        .map(|position| Entry::job(Arc::clone(&name)).after(targets(position).map(NodeId)))
        .collect()
}

/// Layers of entries that each wait for the whole layer before.
fn layered(layers: u32, width: u32) -> Vec<Entry> {
    let layer_before = |position: u32| {
        let layer = position / width;
        (layer.saturating_sub(1) * width..layer * width).map(NodeId)
    };
    (0..layers * width)
        .map(|position| Entry::job("entry").after(layer_before(position)))
        .collect()
}

/// A flow in course: `live` entries whose jobs run, and others that each wait for one of them.
struct InCourse {
    graph: FlowGraph,
    policy: Policy,
    snapshot: Snapshot,
    facts: FactCache,
}

fn in_course(entries: u32, live: u32) -> InCourse {
    let entry =
        |position: u32| Entry::job("entry").after((position >= live).then_some(NodeId(position % live)));
    let graph = FlowGraph::build((0..entries).map(entry).collect()).unwrap();
    let mut world = World::new(graph.clone(), Policy::default(), |_| Life::of(End::Never));
    world.run(None);
    let mut facts = FactCache::default();
    for node in (0..entries).map(NodeId) {
        let job = JobKey {
            node,
            index: 0,
            attempt: 1,
        };
        facts.learn(
            FactKey::Template(node),
            Answer::Template(Default::default()),
            Time(0),
        );
        facts.learn(FactKey::Rendered(job), Answer::Rendered(1), Time(0));
    }
    InCourse {
        graph,
        policy: world.policy.clone(),
        snapshot: world.snapshot(),
        facts,
    }
}

impl InCourse {
    /// The same, with the first job completed: what waits for it is released.
    fn with_an_end(mut self) -> Self {
        let first = self.snapshot.jobs.values_mut().next().unwrap();
        if let Sighting::Seen(view) = first {
            view.phase = JobPhase::Completed;
        }
        self
    }

    fn plan(&self) -> jobflow_core::Plan {
        plan(&self.graph, &self.policy, &self.snapshot, &self.facts, Time(1))
    }
}

/// The figures of graphs that are built and checked.
fn graphs(criterion: &mut Criterion) -> [Figure; 3] {
    let from_names = |entries: Vec<Entry<Arc<str>>>| FlowGraph::from_names(entries).unwrap();
    let from_ids = |entries: Vec<Entry>| FlowGraph::build(entries).unwrap();
    let ms = Duration::from_millis;
    [
        measure(
            criterion,
            "build 100,000 entries, 200,000 edges, from names",
            ms(60),
            by_names,
            from_names,
        ),
        measure(
            criterion,
            "build 100,000 entries, 200,000 edges, from ids",
            ms(10),
            by_ids,
            from_ids,
        ),
        measure(
            criterion,
            "build 200 full layers of 10",
            ms(1),
            || layered(200, 10),
            from_ids,
        ),
    ]
}

/// The figures of plans, with nothing new and with one job that has just ended.
fn plans(criterion: &mut Criterion, entries: u32, bound: Duration, names: [&'static str; 2]) -> [Figure; 2] {
    let nothing_new = in_course(entries, 500);
    let one_end = in_course(entries, 500).with_an_end();
    [
        measure(criterion, names[0], bound, || &nothing_new, InCourse::plan),
        measure(criterion, names[1], bound, || &one_end, InCourse::plan),
    ]
}

/// Targets in course, and a condition of each kind on them by turns; every probe has an answer that doesn't do.
struct Conditions {
    course: InCourse,
    conditions: Vec<Condition>,
}

fn conditions(entries: u32) -> Conditions {
    let mut course = in_course(entries, entries);
    let probe = Arc::new(Probe {
        task: "main".into(),
        port: 8080,
        ask: Ask::HttpGet(HttpGet {
            tls: false,
            path: "/healthz".into(),
            headers: Arc::default(),
        }),
        period: Span::from_secs(10),
        timeout: Span::from_secs(1),
        success_threshold: 1,
        replicas: Replicas::All,
    });
    for (node, record) in course.snapshot.record.nodes.iter() {
        let target = JobKey {
            node,
            index: 0,
            attempt: record.attempt,
        };
        let question = FactKey::Probe {
            target,
            probe: Arc::clone(&probe),
        };
        course
            .facts
            .learn(question, Answer::Probe(ProbeAnswer::Refused), Time(0));
    }
    let task = |status| {
        Condition::Task(TaskCondition {
            task: "main".into(),
            status,
            at_least: Some(AtLeast::Percent(80)),
        })
    };
    let conditions = vec![
        Condition::Completed,
        Condition::Started,
        Condition::Running,
        Condition::Ready(None),
        Condition::Failed,
        Condition::Finished,
        task(TaskStatus::Succeeded),
        task(TaskStatus::Ready),
        Condition::Probe(Arc::clone(&probe)),
        Condition::Probe(probe),
    ];
    Conditions { course, conditions }
}

impl Conditions {
    fn judge(&self) -> usize {
        let course = &self.course;
        let pending = course.snapshot.record.nodes.iter().filter(|(node, record)| {
            let target = Judged {
                node: *node,
                entry: course.graph.entry(*node),
                record,
            };
            let condition = &self.conditions[node.position() % self.conditions.len()];
            judge(condition, target, &course.facts, Time(1)) == Judgement::Pending
        });
        pending.count()
    }
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_secs(1))
        .configure_from_args();
    let small = [
        "plan 1,000 entries, 500 live, nothing new",
        "plan 1,000 entries, 500 live, one end",
    ];
    let large = [
        "plan 10,000 entries, 500 live, nothing new",
        "plan 10,000 entries, 500 live, one end",
    ];
    let mut figures = Vec::from(graphs(&mut criterion));
    figures.extend(plans(&mut criterion, 1_000, Duration::from_micros(50), small));
    figures.extend(plans(&mut criterion, 10_000, Duration::from_micros(300), large));
    let judged = conditions(10_000);
    figures.push(measure(
        &mut criterion,
        "judge 10,000 conditions of all kinds",
        Duration::from_millis(1),
        || &judged,
        Conditions::judge,
    ));
    criterion.final_summary();
    for figure in figures.iter_mut().filter(|figure| !figure.samples.is_empty()) {
        let (median, fastest) = (figure.median(), figure.samples[0]);
        let word = if median <= figure.bound { "holds" } else { "MISSED" };
        println!(
            "{word}: {:<50} {median:>10.1?} of {:?}, fastest {fastest:.1?}",
            figure.name, figure.bound
        );
    }
}
