//! A cluster in the process, and drivers on it.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jobflow_core::node::NodeEvent;
use jobflow_core::testing::Life;
use jobflow_core::{NodePhase, Reason, Time};
use jobflow_k8s::client::{Driver, Extensions, Finding, FlowRef, NodeChange, Observer, Settings};
use jobflow_test_service::volcano::{Attempt, Volcano};
use jobflow_test_service::{Key, Service};
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// A change that a driver told of.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) node: String,
    pub(crate) attempt: u32,
    pub(crate) from: NodePhase,
    pub(crate) to: NodePhase,
    pub(crate) event: NodeEvent,
    pub(crate) reason: Option<Reason>,
    pub(crate) at: Time,
}

/// Hears drivers.
#[derive(Debug, Default)]
pub(crate) struct Ear {
    told: Mutex<Vec<Told>>,
    found: Mutex<Vec<(String, Finding)>>,
    rests: Mutex<Vec<String>>,
}

impl Ear {
    pub(crate) fn told(&self) -> Vec<Told> {
        self.told.lock().unwrap().clone()
    }

    /// The flows of which everything was dropped, each time that it was.
    pub(crate) fn rests(&self) -> Vec<String> {
        self.rests.lock().unwrap().clone()
    }

    pub(crate) fn found(&self) -> Vec<(String, Finding)> {
        self.found.lock().unwrap().clone()
    }
}

impl Observer for Ear {
    fn node_changed(&self, _: FlowRef<'_>, change: NodeChange<'_>) {
        self.told.lock().unwrap().push(Told {
            node: change.node.to_owned(),
            attempt: change.attempt,
            from: change.from,
            to: change.to,
            event: change.event,
            reason: change.reason,
            at: change.at,
        });
    }

    fn rests(&self, flow: FlowRef<'_>) {
        self.rests.lock().unwrap().push(flow.name.to_owned());
    }

    fn found(&self, flow: FlowRef<'_>, finding: &Finding) {
        self.found
            .lock()
            .unwrap()
            .push((flow.name.to_owned(), finding.clone()));
    }
}

/// A cluster with Volcano, and the drivers that run on it.
pub(crate) struct Stage {
    pub(crate) service: Service,
    pub(crate) ear: Arc<Ear>,
    pub(crate) settings: Settings,
    pub(crate) extensions: Extensions,
    drivers: Vec<(String, JoinHandle<()>)>,
    volcano: JoinHandle<()>,
}

impl Stage {
    /// A cluster whose pods do what `lives` tells.
    pub(crate) fn new(lives: impl Fn(&Attempt) -> Life + Send + Sync + 'static) -> Self {
        let service = Service::new();
        let volcano = tokio::spawn(Volcano::new(&service, Arc::new(lives)).run());
        Self {
            service,
            ear: Arc::default(),
            settings: Settings::default(),
            extensions: Extensions::default(),
            drivers: Vec::new(),
            volcano,
        }
    }

    /// A driver that hasn't begun, as a future.
    pub(crate) fn driver(&self, who: &str, replica: usize) -> impl Future<Output = ()> + Send + 'static {
        let clock = self.service.clock();
        let driver = Driver::new(self.service.client_of(who, replica), self.settings.clone());
        let ear: Arc<dyn Observer> = Arc::<Ear>::clone(&self.ear);
        driver
            .with_observer(ear)
            .with_extensions(self.extensions.clone())
            .with_clock(Arc::new(move || Time(clock.milliseconds())))
            .run()
    }

    /// Starts a driver.
    pub(crate) fn start(&mut self, who: &str) {
        self.start_on(who, 0);
    }

    /// Starts a driver on one API server of several.
    pub(crate) fn start_on(&mut self, who: &str, replica: usize) {
        let driver = tokio::spawn(self.driver(who, replica));
        self.drivers.push((who.to_owned(), driver));
    }

    /// Kills a driver in the middle of whatever it does.
    pub(crate) async fn kill(&mut self, who: &str) {
        for (name, driver) in &mut self.drivers {
            if name == who {
                driver.abort();
                drop(driver.await);
            }
        }
        self.drivers.retain(|(name, _)| name != who);
    }

    /// Nobody acts on Jobs any more.
    pub(crate) fn stop_volcano(&self) {
        self.volcano.abort();
    }

    /// Waits until something is so.
    pub(crate) async fn until(&self, what: impl Fn(&Service) -> bool, patience: Duration) -> bool {
        let end = self.service.clock().elapsed() + patience;
        while !what(&self.service) {
            if self.service.clock().elapsed() >= end {
                return false;
            }
            sleep(Duration::from_millis(100)).await;
        }
        true
    }

    /// Waits until a flow has ended; panics if it doesn't.
    pub(crate) async fn ended(&self, flow: &str) -> Value {
        let key = Key::of("jobflows", flow);
        let done = self
            .until(|service| is_ended(service, &key), Duration::from_secs(7_200))
            .await;
        let object = self.service.get(&key).unwrap_or_default();
        assert!(
            done,
            "{flow} doesn't end: {:#} found {:?}\n{}",
            object["status"],
            self.ear.found(),
            self.last_requests()
        );
        object
    }
}

impl Stage {
    /// The last requests, a line each, for whoever wonders.
    pub(crate) fn last_requests(&self) -> String {
        let log = self.service.log();
        let last = log.iter().rev().take(30).rev();
        let line = |entry: &jobflow_test_service::Entry| {
            format!(
                "{:?} {} {:?} {} {:?}",
                entry.at, entry.who, entry.verb, entry.path, entry.code
            )
        };
        last.map(line).collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.volcano.abort();
        self.drivers.iter().for_each(|(_, driver)| driver.abort());
    }
}

/// The phase of a flow as its status tells it.
pub(crate) fn phase(flow: &Value) -> &str {
    flow["status"]["state"]["phase"].as_str().unwrap_or_default()
}

pub(crate) fn is_ended(service: &Service, key: &Key) -> bool {
    let flow = service.get(key).unwrap_or_default();
    ["Succeed", "Failed"].contains(&phase(&flow))
}

/// The phase of a node as the status of its flow tells it, with the reason after a slash.
pub(crate) fn node(flow: &Value, name: &str) -> String {
    let nodes = flow["status"]["nodes"].as_array();
    let node = nodes.into_iter().flatten().find(|node| node["name"] == name);
    let Some(node) = node else { return String::new() };
    let phase = node["phase"].as_str().unwrap_or("Waiting");
    match node["reason"].as_str() {
        Some(reason) => format!("{phase}/{reason}"),
        None => phase.to_owned(),
    }
}

/// Runs a test under a paused clock of its own.
pub(crate) fn paused<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build();
    runtime.unwrap().block_on(test)
}
