//! A machine with a made-up server: it keeps what is written, and answers what a test tells it to answer.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock, Mutex};

use jobflow_core::{FlowPhase, FlowRecord, NodePhase, Plan, Time};
use serde_json::{Value, json};

use super::super::*;
use crate::client::observer::{Finding, FlowRef, Observer};
use crate::client::request::{Response, Said, Written};
use crate::observe::TaskCounts;
use crate::types::JobFlowSpec;

static SCHEMAS: LazyLock<Schemas> = LazyLock::new(Schemas::new);

/// What the machine told.
#[derive(Debug, Default)]
struct Ear {
    found: Mutex<Vec<Finding>>,
    planned: Mutex<usize>,
}

impl Observer for Ear {
    fn found(&self, _flow: FlowRef<'_>, finding: &Finding) {
        self.found.lock().unwrap().push(finding.clone());
    }

    fn planned(&self, _flow: FlowRef<'_>, _plan: &Plan) {
        *self.planned.lock().unwrap() += 1;
    }
}

#[derive(Debug)]
pub(super) struct Scene {
    pub(super) driver: FlowDriver,
    pub(super) settings: Settings,
    object: JobFlow,
    version: u64,
    jobs: u64,
    now: Time,
    templates: BTreeMap<String, Arc<SlimTemplate>>,
    /// What was asked of pods last.
    pub(super) probes: Vec<(FactKey, String)>,
    ear: Ear,
    keeps: AtomicBool,
    /// The requests of which none was answered yet, oldest first.
    open: Vec<(Ticket, Request)>,
}

pub(super) fn job_spec() -> Value {
    json!({"minAvailable": 1, "tasks": [{"name": "main", "replicas": 1, "template": {"spec": {
        "containers": [{"name": "main", "image": "busybox:1.36"}],
    }}}]})
}

/// Requests in a few words each.
pub(super) fn names(requests: &[(Ticket, Request)]) -> Vec<String> {
    let name = |request: &Request| match request {
        Request::ReadFlow => "ReadFlow".to_owned(),
        Request::WriteStatus { .. } => "WriteStatus".to_owned(),
        Request::MarkBirth { .. } => "MarkBirth".to_owned(),
        Request::CreateJob { name, .. } => format!("CreateJob {name}"),
        Request::ReadJob { name, .. } => format!("ReadJob {name}"),
        Request::ListJobs { selector } => format!("ListJobs {selector}"),
        Request::ListPods { job, .. } => format!("ListPods {job}"),
        Request::ReadOwner { name, uid, .. } => format!("ReadOwner {name} {uid}"),
        Request::TerminateJob { body, .. } => {
            let command: Value = serde_json::from_slice(body).unwrap();
            format!("TerminateJob {}", command["target"]["name"].as_str().unwrap())
        }
        Request::DeleteJob { name, uid, .. } => format!("DeleteJob {name} {uid}"),
        Request::DeleteFlow { uid, version } => format!("DeleteFlow {uid} {version}"),
        Request::ListFrozen { selector } => format!("ListFrozen {selector}"),
        Request::FreezeTemplate { body } => {
            let frozen: Value = serde_json::from_slice(body).unwrap();
            let metadata = &frozen["metadata"];
            let source = metadata["annotations"]["flow.volcano.sh/frozen"]
                .as_str()
                .unwrap();
            format!("FreezeTemplate {source}")
        }
        Request::Ask(question) => format!("Ask {question:?}"),
    };
    requests.iter().map(|(_, request)| name(request)).collect()
}

/// What a request carries.
pub(super) fn body(request: &Request) -> Value {
    match request {
        Request::WriteStatus { body }
        | Request::MarkBirth { body }
        | Request::CreateJob { body, .. }
        | Request::FreezeTemplate { body }
        | Request::TerminateJob { body, .. } => serde_json::from_slice(body).unwrap(),
        Request::ReadFlow
        | Request::ReadJob { .. }
        | Request::ListJobs { .. }
        | Request::ListPods { .. }
        | Request::ListFrozen { .. }
        | Request::ReadOwner { .. }
        | Request::DeleteJob { .. }
        | Request::DeleteFlow { .. }
        | Request::Ask(_) => Value::Null,
    }
}

pub(super) fn refused(code: u16, message: &str) -> Response {
    let body = json!({"kind": "Status", "status": "Failure", "message": message, "code": code});
    Response::Refused(Box::new(Said {
        code,
        body: body.to_string().into_bytes(),
        retry_after: None,
    }))
}

fn template(name: &str) -> Arc<SlimTemplate> {
    let template = json!({
        "metadata": {"name": name, "namespace": "default", "uid": format!("template-{name}"), "generation": 1},
        "spec": job_spec(),
    });
    Arc::new(serde_json::from_value(template).unwrap())
}

impl Scene {
    /// A flow `f` that nobody has looked at, with a template for each of its entries.
    pub(super) fn new(spec: Value) -> Self {
        let mut scene = Self::without_templates(spec);
        let entries = scene.object.spec.flows.clone().unwrap_or_default();
        scene.templates = entries
            .into_iter()
            .map(|entry| (entry.name.clone(), template(&entry.name)))
            .collect();
        scene
    }

    pub(super) fn without_templates(spec: Value) -> Self {
        let mut object = JobFlow::new("f", JobFlowSpec::default());
        object.spec = serde_json::from_value(spec).unwrap();
        object.metadata.namespace = Some("default".to_owned());
        object.metadata.uid = Some("uid-f".to_owned());
        object.metadata.generation = Some(1);
        object.metadata.resource_version = Some("1".to_owned());
        let now = Time(1_700_000_000_000);
        Self {
            driver: FlowDriver::new(Arc::new(object.clone()), now),
            settings: Settings::default(),
            object,
            version: 1,
            jobs: 100,
            now,
            templates: BTreeMap::new(),
            probes: Vec::new(),
            ear: Ear::default(),
            keeps: AtomicBool::new(true),
            open: Vec::new(),
        }
    }

    /// The same flow in a process that has just started.
    pub(super) fn restarted(self) -> Self {
        Self {
            driver: FlowDriver::new(Arc::new(self.object.clone()), self.now),
            ear: Ear::default(),
            open: Vec::new(),
            ..self
        }
    }

    /// The flow as Volcano's controller would have left it, and a process that has just started.
    pub(super) fn started_by_volcano(mut self, phase: &str) -> Self {
        self.object.status = Some(serde_json::from_value(json!({"state": {"phase": phase}})).unwrap());
        self.object.metadata.annotations = None;
        self.restarted()
    }

    fn with<T>(&mut self, act: impl FnOnce(&mut FlowDriver, &Surroundings<'_>, Time) -> T) -> T {
        let Self {
            driver,
            settings,
            templates,
            ear,
            keeps,
            now,
            ..
        } = self;
        let find = |name: &str| templates.get(name).map(Arc::clone);
        let around = Surroundings {
            settings,
            schemas: &SCHEMAS,
            templates: &find,
            queues: &|_| None,
            is_alive: &|_| false,
            extensions: &Extensions::default(),
            schema_keeps: keeps,
            observer: ear,
        };
        act(driver, &around, *now)
    }

    /// Steps until nothing more is asked for at this moment; what was asked for on the way.
    pub(super) fn step(&mut self) -> Vec<(Ticket, Request)> {
        let mut asked = Vec::new();
        for _ in 0..20 {
            let stepped = self.with(|driver, around, now| driver.step(around, now));
            let again = stepped.wake_at.is_some_and(|at| at <= self.now);
            asked.extend(stepped.requests);
            self.probes = stepped.probes.unwrap_or_else(|| std::mem::take(&mut self.probes));
            if !again {
                self.open.extend(asked.iter().cloned());
                return asked;
            }
        }
        panic!("it never rests: {:?}", self.driver);
    }

    /// The server may be one that keeps nothing of ours.
    pub(super) fn with_unknown_server(mut self) -> Self {
        self.keeps = AtomicBool::new(false);
        self
    }

    pub(super) fn later(&mut self, milliseconds: i64) {
        self.now = Time(self.now.0 + milliseconds);
    }

    pub(super) fn receive(&mut self, input: Input) {
        self.with(|driver, around, now| driver.receive(input, around, now));
    }

    /// Lets the open request of this name be answered next.
    pub(super) fn next(&mut self, name: &str) {
        let found = names(&self.open).iter().position(|open| open.starts_with(name));
        let request = self.open.remove(found.unwrap());
        self.open.insert(0, request);
    }

    /// Answers the oldest open request.
    pub(super) fn answer(&mut self, response: Response) {
        let (ticket, _) = self.open.remove(0);
        self.receive(Input::Answered(ticket, response));
    }

    pub(super) fn answer_flow(&mut self) {
        self.answer(Response::Flow(Box::new(self.object.clone())));
    }

    /// The server stores this status.
    pub(super) fn store(&mut self, status: &Value) {
        self.object.status = Some(serde_json::from_value(status.clone()).unwrap());
        self.next_version();
    }

    fn next_version(&mut self) {
        self.version += 1;
        self.object.metadata.resource_version = Some(self.version.to_string());
    }

    /// Stores the status that was sent, if it was sent for the version that is there.
    pub(super) fn answer_write(&mut self) {
        let sent = body(&self.open[0].1);
        assert_eq!(
            sent["metadata"]["resourceVersion"],
            self.version.to_string(),
            "{sent:#}"
        );
        assert_eq!(sent.get("spec"), None);
        self.store(&sent["status"]);
        self.answer(Response::Written(Box::new(Written {
            version: self.version.to_string(),
            status: self.object.status.clone().unwrap(),
        })));
    }

    /// As a server that knows none of our fields.
    pub(super) fn answer_dropped(&mut self) {
        self.answer(Response::Written(Box::new(Written {
            version: self.version.to_string(),
            ..Written::default()
        })));
    }

    pub(super) fn answer_mark(&mut self) {
        let mark = body(&self.open[0].1);
        assert_eq!(mark["metadata"]["uid"], "uid-f", "conditional on the UID");
        self.object.metadata.annotations =
            serde_json::from_value(mark["metadata"]["annotations"].clone()).unwrap();
        self.next_version();
        self.answer_flow();
    }

    pub(super) fn answer_absent(&mut self, name: &str) {
        let body = json!({"kind": "Status", "reason": "NotFound", "code": 404, "details": {"name": name}});
        self.answer(Response::Refused(Box::new(Said {
            code: 404,
            body: body.to_string().into_bytes(),
            retry_after: None,
        })));
    }

    fn slim(&mut self, name: &str, uid: &str, phase: &str, fields: Value) -> SlimJob {
        self.jobs += 1;
        let entry = name.trim_start_matches("f-");
        let mut job = json!({
            "metadata": {
                "name": name,
                "namespace": "default",
                "uid": uid,
                "resourceVersion": self.jobs.to_string(),
                "creationTimestamp": "2023-11-14T22:13:20Z",
                "annotations": {"flow.volcano.sh/node": format!("{entry}/0/1")},
                "ownerReferences": [{
                    "apiVersion": "flow.volcano.sh/v1alpha1",
                    "kind": "JobFlow",
                    "name": "f",
                    "uid": "uid-f",
                    "controller": true,
                }],
            },
            "spec": job_spec(),
            "status": {"state": {"phase": phase}},
        });
        for (field, value) in fields.as_object().unwrap() {
            job["metadata"][field] = value.clone();
        }
        serde_json::from_value(job).unwrap()
    }

    pub(super) fn answer_job(&mut self, name: &str, uid: &str, phase: &str) {
        let job = self.slim(name, uid, phase, json!({}));
        self.answer(Response::Job(Box::new(job)));
    }

    pub(super) fn answer_job_leaving(&mut self, name: &str, uid: &str) {
        let job = self.slim(
            name,
            uid,
            "Running",
            json!({"deletionTimestamp": "2023-11-14T22:13:25Z"}),
        );
        self.answer(Response::Job(Box::new(job)));
    }

    pub(super) fn answer_foreign(&mut self, name: &str, owner: Option<&str>, deleting: bool) {
        let owners = owner.map(|uid| {
            json!([{"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "name": "old", "uid": uid, "controller": true}])
        });
        let deleted = deleting.then_some("2023-11-14T22:13:25Z");
        let fields = json!({"ownerReferences": owners, "deletionTimestamp": deleted});
        let job = self.slim(name, "9", "Running", fields);
        self.answer(Response::Job(Box::new(job)));
    }

    pub(super) fn answer_list(&mut self, jobs: &[(&str, &str, &str)]) {
        let jobs = jobs
            .iter()
            .map(|(name, uid, phase)| self.slim(name, uid, phase, json!({})))
            .collect();
        self.answer(Response::Jobs(jobs));
    }

    /// The store shows a Job.
    pub(super) fn job(&mut self, name: &str, uid: &str, phase: &str) {
        let job = self.slim(name, uid, phase, json!({}));
        self.receive(Input::Job(Arc::new(job)));
    }

    /// The same, with more in its status.
    pub(super) fn job_with(&mut self, name: &str, uid: &str, phase: &str, status: &Value) {
        let mut job = self.slim(name, uid, phase, json!({}));
        job.running_duration = status["runningDuration"].as_str().map(Into::into);
        self.receive(Input::Job(Arc::new(job)));
    }

    /// The store shows a Job whose pod runs.
    pub(super) fn runs(&mut self, name: &str, uid: &str) {
        let mut job = self.slim(name, uid, "Running", json!({}));
        job.running = 1;
        for task in &mut job.tasks {
            task.counts = Some(TaskCounts {
                running: 1,
                ..TaskCounts::default()
            });
        }
        self.receive(Input::Job(Arc::new(job)));
    }

    /// The store shows an end with its pods, and at once the rewrite that Volcano makes of it, without them.
    pub(super) fn succeeds(&mut self, name: &str, uid: &str) {
        let mut ended = self.slim(name, uid, "Completed", json!({}));
        for task in &mut ended.tasks {
            task.counts = Some(TaskCounts {
                succeeded: 1,
                ..TaskCounts::default()
            });
        }
        self.receive(Input::Job(Arc::new(ended)));
        let rewritten = self.slim(name, uid, "Completed", json!({}));
        self.receive(Input::Job(Arc::new(rewritten)));
    }

    pub(super) fn job_gone(&mut self, name: &str, uid: &str, phase: &str) {
        let job = self.slim(name, uid, phase, json!({}));
        self.receive(Input::JobGone(Arc::new(job)));
    }

    /// Somebody changes the flow on the server.
    pub(super) fn object(&mut self, change: impl FnOnce(&mut JobFlow)) {
        let before = self.object.spec.clone();
        change(&mut self.object);
        if before != self.object.spec {
            self.object.metadata.generation =
                self.object.metadata.generation.map(|generation| generation + 1);
        }
        self.next_version();
    }

    pub(super) fn edit(&mut self, spec: Value) {
        self.object(|flow| flow.spec = serde_json::from_value(spec).unwrap());
        let entries = self.object.spec.flows.clone().unwrap_or_default();
        for entry in entries {
            self.templates
                .entry(entry.name.clone())
                .or_insert_with(|| template(&entry.name));
        }
    }

    pub(super) fn delete_flow(&mut self) {
        let job: SlimJob = self.slim(
            "f-x",
            "x",
            "",
            json!({"deletionTimestamp": "2023-11-14T22:13:25Z"}),
        );
        self.object(|flow| flow.metadata.deletion_timestamp = job.metadata.deletion_timestamp);
    }

    pub(super) fn lose_status(&mut self) {
        self.object(|flow| flow.status = None);
    }

    /// The store shows the flow.
    pub(super) fn show_flow(&mut self) {
        self.receive(Input::Flow(Arc::new(self.object.clone())));
    }

    /// Somebody edits a template; the store shows it with the next look.
    pub(super) fn edit_template(&mut self, name: &str, generation: i64, queue: &str) {
        let mut spec = job_spec();
        spec["queue"] = queue.into();
        let template = json!({
            "metadata": {
                "name": name, "namespace": "default", "uid": format!("template-{name}"), "generation": generation,
            },
            "spec": spec,
        });
        let template = Arc::new(serde_json::from_value(template).unwrap());
        self.templates.insert(name.to_owned(), template);
    }

    pub(super) fn remove_template(&mut self, name: &str) {
        self.templates.remove(name);
        self.receive(Input::Template(name.to_owned()));
    }

    /// The server stores the frozen template that was sent, and says so.
    pub(super) fn answer_frozen(&mut self) -> SlimTemplate {
        let stored = self.freeze();
        self.answer(Response::Template(Box::new(stored.clone())));
        stored
    }

    /// The frozen template that was sent, as a server would have stored it.
    pub(super) fn freeze(&mut self) -> SlimTemplate {
        self.jobs += 1;
        let mut frozen = body(&self.open[0].1);
        frozen["metadata"]["uid"] = format!("frozen-{}", self.jobs).into();
        frozen["metadata"]["resourceVersion"] = self.jobs.to_string().into();
        frozen["metadata"]["creationTimestamp"] = "2023-11-14T22:13:20Z".into();
        serde_json::from_value(frozen).unwrap()
    }

    pub(super) fn answer_frozen_list(&mut self, templates: &[SlimTemplate]) {
        self.answer(Response::Templates(templates.to_vec()));
    }

    pub(super) fn add_template(&mut self, name: &str) {
        self.templates.insert(name.to_owned(), template(name));
        self.receive(Input::Template(name.to_owned()));
    }

    /// The status as stored.
    pub(super) fn stored(&self) -> Value {
        serde_json::to_value(&self.object.status).unwrap()
    }

    /// Where a node stands in the machine's record, and why.
    pub(super) fn node(&self, name: &str) -> (NodePhase, Option<String>) {
        let flow = self
            .driver
            .parsed
            .as_ref()
            .and_then(|parsed| parsed.flow())
            .unwrap();
        let record = &self.driver.snapshot.record.nodes[flow.graph.find(name).unwrap()];
        (record.phase(), record.reason.map(|reason| reason.to_string()))
    }

    pub(super) fn phase(&self, name: &str) -> NodePhase {
        self.node(name).0
    }

    pub(super) const fn record(&self) -> &FlowRecord {
        &self.driver.snapshot.record
    }

    pub(super) fn flow_phase(&self) -> FlowPhase {
        self.driver.snapshot.record.phase
    }

    pub(super) fn told(&self) -> Vec<Finding> {
        self.ear.found.lock().unwrap().clone()
    }

    pub(super) fn planned(&self) -> usize {
        *self.ear.planned.lock().unwrap()
    }
}
