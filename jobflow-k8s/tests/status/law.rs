//! A world whose record goes through its status.

use std::collections::BTreeMap;
use std::sync::Arc;

use jobflow_core::facts::{Answer, FactCache, FactKey, TemplateVersion};
use jobflow_core::key::JobKey;
use jobflow_core::plan::{Plan, Urgency, plan_with_answers};
use jobflow_core::record::FlowRecord;
use jobflow_core::report::Report;
use jobflow_core::snapshot::CancelMode;
use jobflow_core::testing::{Act, Script, World};
use jobflow_core::{FlowGraph, Policy};
use jobflow_k8s::observe::SlimJob;
use jobflow_k8s::parse::Flow;
use jobflow_k8s::status::{Writing, base_size, carries, read, write};
use jobflow_k8s::types::{Entry, JobFlow, JobFlowStatus};

use crate::flows;

/// A world, and the object that its record is stored in.
pub(crate) struct Kept {
    pub(crate) world: World,
    flow: JobFlow,
    parsed: Flow,
    jobs: BTreeMap<JobKey, Arc<SlimJob>>,
}

impl Kept {
    pub(crate) fn of_script(script: &Script) -> Self {
        let graph = script.graph().unwrap();
        let (names, lives) = (graph.clone(), script.clone());
        let world = World::new(graph, script.policy.clone(), move |key| {
            lives.life(&names.entry(key.node).name, key.attempt)
        });
        Self::of(world)
    }

    pub(crate) fn of_random(seed: u64) -> Self {
        let (graph, policy) = flows::random(seed);
        Self::of(World::new(graph, policy, move |key| flows::life(seed, key)))
    }

    fn of(world: World) -> Self {
        let mut flow = JobFlow::default();
        flow.metadata.name = Some("flow".to_owned());
        flow.metadata.uid = Some("uid".to_owned());
        flow.metadata.generation = Some(1);
        let parsed = parsed(&world.graph, &world.policy);
        Self {
            world,
            flow,
            parsed,
            jobs: BTreeMap::new(),
        }
    }

    pub(crate) fn perform(&mut self, act: &Act) {
        let world = &mut self.world;
        match act {
            Act::Cancel(mode) => world.wishes.cancel = Some(*mode),
            Act::Suspend { running } => {
                world.wishes.suspend = true;
                world.wishes.suspend_running = *running;
            }
            Act::Resume => {
                world.wishes.suspend = false;
                world.wishes.suspend_running = false;
            }
            Act::Delete(name) => {
                let node = world.graph.find(name).unwrap();
                let attempt = world.record.nodes[node].attempt;
                world.delete(JobKey {
                    node,
                    index: 0,
                    attempt,
                });
            }
            Act::Forget => world.forget(),
        }
    }

    pub(crate) fn cancel(&mut self) {
        self.world.wishes.cancel = Some(CancelMode::Graceful);
    }

    /// Where the nodes stand, for a message.
    pub(crate) fn shown(&self) -> String {
        let node = |(_, record): (_, &jobflow_core::record::NodeRecord)| {
            format!("{}/{:?} {:?} ", record.phase(), record.reason, record.stop)
        };
        let nodes: String = self.world.record.nodes.iter().map(node).collect();
        format!(
            "{} at {:?}: {nodes} {:?}",
            self.world.phase(),
            self.world.now,
            self.world.wishes
        )
    }

    /// Ends a suspension; true when there was one.
    pub(crate) fn resumes(&mut self) -> bool {
        std::mem::take(&mut self.world.wishes.suspend)
    }

    /// Plans until nothing follows any more, with a check before each plan and a record read back after each.
    pub(crate) fn settle(&mut self, name: &str) {
        for _ in 0..1000 {
            self.check(name);
            let plan = self.world.round();
            self.read_back();
            let again = plan.wake_at.is_some_and(|at| at <= self.world.now);
            if plan.urgency == Urgency::None && plan.effects.is_empty() && !again {
                return;
            }
        }
        assert_eq!(name, "never settles");
    }

    /// What is stored of the world's record, after a trip through JSON.
    fn status(&self, record: &FlowRecord, report: &Report) -> JobFlowStatus {
        let writing = Writing {
            flow: &self.flow,
            base_size: base_size(&self.flow),
            parsed: &self.parsed,
            record,
            jobs: &self.jobs,
            report,
            now: self.world.now,
        };
        let written = write(writing).unwrap().status;
        let text = serde_json::to_string(&written).unwrap();
        let stored: JobFlowStatus = serde_json::from_str(&text).unwrap();
        assert_eq!(stored, written, "{text}");
        stored
    }

    fn read(&self, status: JobFlowStatus) -> FlowRecord {
        let flow = JobFlow {
            status: Some(status),
            ..self.flow.clone()
        };
        read(&flow, &self.parsed).unwrap()
    }

    /// From here on nothing is known but what is stored.
    pub(crate) fn read_back(&mut self) {
        let status = self.status(&self.world.record, &Report::new());
        self.world.record = self.read(status.clone());
        self.flow.status = Some(status);
    }

    /// The plan from what is stored is the plan from the record, and what is stored of the next record is the same.
    pub(crate) fn check(&self, name: &str) {
        let record = &self.world.record;
        let status = self.status(record, &Report::new());
        let read = self.read(status.clone());
        same(
            &self.status(&read, &Report::new()),
            &status,
            &format!("{name}: written again"),
        );
        let (kept, stored) = (self.plan(record.clone()), self.plan(read));
        assert_eq!(stored.changes, kept.changes, "{name} at {:?}", self.world.now);
        assert_eq!(stored.effects, kept.effects, "{name} at {:?}", self.world.now);
        assert_eq!(stored.report, kept.report, "{name} at {:?}", self.world.now);
        assert_eq!(
            (stored.wake_at, stored.urgency, &stored.wanted),
            (kept.wake_at, kept.urgency, &kept.wanted),
            "{name} at {:?}",
            self.world.now
        );
        let (stored, kept) = (
            self.status(&stored.next, &stored.report),
            self.status(&kept.next, &kept.report),
        );
        same(&stored, &kept, &format!("{name} at {:?}", self.world.now));
    }

    fn plan(&self, record: FlowRecord) -> Plan {
        let mut snapshot = self.world.snapshot();
        snapshot.record = record;
        let mut facts = FactCache::default();
        plan_with_answers(
            &self.world.graph,
            &self.world.policy,
            &snapshot,
            &mut facts,
            answer,
            self.world.now,
        )
    }
}

/// All but Volcano's lists, which keep what was told before.
fn same(one: &JobFlowStatus, other: &JobFlowStatus, name: &str) {
    assert_eq!(one.nodes, other.nodes, "{name}");
    assert_eq!(one.flow_conditions, other.flow_conditions, "{name}");
    assert!(carries(one, other), "{name}: {one:#?} {other:#?}");
}

/// A template with an identity, so that it is recorded.
#[expect(clippy::unnecessary_wraps, reason = "the shape of a source of facts")]
fn answer(key: &FactKey) -> Option<Answer> {
    Some(match key {
        FactKey::Template(_) => Answer::Template(TemplateVersion {
            uid: "a-template".into(),
            generation: 7,
        }),
        FactKey::Rendered(_) => Answer::Rendered(1),
        FactKey::Queue(_) => Answer::Queue(true),
        FactKey::Custom { .. } | _ => Answer::Custom("".into()),
    })
}

fn parsed(graph: &FlowGraph, policy: &Policy) -> Flow {
    let entry = |name: &str| Entry {
        name: name.to_owned(),
        ..Entry::default()
    };
    Flow {
        graph: graph.clone(),
        policy: policy.clone(),
        wishes: jobflow_core::snapshot::Wishes::default(),
        entries: graph
            .entries()
            .iter()
            .map(|written| entry(&written.name))
            .collect(),
        warnings: Vec::new(),
    }
}
