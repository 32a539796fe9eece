//! Jobs as processes of this machine: what `jobflow-local` runs flows with, under the orders of the stand-in.
//!
//! Each namespace has a folder and an executor of its own, so that claims of one name are shared within it only.

mod yard;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

use jobflow_core::gang::Command;
use jobflow_k8s::job::JobView;
use jobflow_local::client::Launch;
use jobflow_local::enter;
use jobflow_local::executor::{self, ExecutorError};
use jobflow_local::pod::addresses::Addresses;
use serde_json::{Map, Value};
use tokio::sync::mpsc::UnboundedSender;

use crate::lead::News;
use crate::volcano::Complaints;
use yard::Yard;

/// Where processes run, and which program is their parent.
#[derive(Clone, Debug)]
pub struct Processes {
    /// Logs, claims and other volumes are below it, in a folder for each namespace.
    pub folder: PathBuf,
    /// A program whose `main` calls [`serve_if_asked`] first.
    pub program: PathBuf,
    /// The network of pods, such as 10.244: all of its addresses must be this machine's. Without one every pod says that
    /// it is at 127.0.0.1, where nobody asks it anything.
    pub network: Option<[u8; 2]>,
    /// Variables of this process that tasks get.
    pub inherit: Vec<String>,
}

/// Something to be done to a Job.
pub(crate) enum Order {
    Run(Box<Run>),
    Command(String, Command),
    /// Its pods are taken away.
    Evict(String),
    Delete(String),
}

/// A Job to be run.
pub(crate) struct Run {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) spec: Map<String, Value>,
    pub(crate) view: JobView,
    /// The addresses of its pods.
    pub(crate) addresses: Addresses,
}

/// The yards of all namespaces, each a thread; they end when this is dropped.
#[derive(Debug)]
pub(crate) struct Yards {
    processes: Processes,
    orders: BTreeMap<String, Sender<Order>>,
    threads: Vec<JoinHandle<()>>,
    news: UnboundedSender<(String, News)>,
    complaints: Complaints,
}

impl Yards {
    pub(crate) const fn new(
        processes: Processes,
        news: UnboundedSender<(String, News)>,
        complaints: Complaints,
    ) -> Self {
        Self {
            processes,
            orders: BTreeMap::new(),
            threads: Vec::new(),
            news,
            complaints,
        }
    }

    /// Gives an order to the yard of a namespace, which is opened for the first.
    pub(crate) fn order(&mut self, namespace: &str, order: Order) {
        if !self.orders.contains_key(namespace) {
            let sender = self.open(namespace);
            self.orders.insert(namespace.to_owned(), sender);
        }
        let sent = self.orders.get(namespace).map(|sender| sender.send(order));
        if !matches!(sent, Some(Ok(()))) {
            self.complaints
                .add(format!("nothing runs in `{namespace}` any more"));
        }
    }

    fn open(&mut self, namespace: &str) -> Sender<Order> {
        let (sender, orders) = mpsc::channel();
        let processes = self.processes.clone();
        let (news, complaints) = (self.news.clone(), self.complaints.clone());
        let namespace = namespace.to_owned();
        self.threads.push(thread::spawn(move || {
            let yard = Yard::open(&processes, &namespace, news, complaints.clone());
            if let Err(error) = yard.and_then(|yard| yard.work(&orders)) {
                complaints.add(with_causes(&*error));
            }
        }));
        sender
    }
}

impl Drop for Yards {
    /// Waits until every executor was told to end what it runs.
    fn drop(&mut self) {
        self.orders.clear();
        for thread in self.threads.drain(..) {
            // One that panicked has nothing more to do.
            let _ended = thread.join();
        }
    }
}

impl Processes {
    fn launch(program: &std::path::Path) -> Launch {
        Launch {
            program: program.to_owned(),
            arguments: vec!["__executor".into()],
        }
    }
}

/// Does what the stand-in starts its program for, if that is what the arguments ask for: to be the parent of processes, or
/// to become one of them.
#[must_use]
pub fn serve_if_asked() -> Option<ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match arguments.as_slice() {
        [verb, folder] if verb == "__executor" => Some(serve(folder)),
        [verb, plan] if verb == "__enter" => {
            let error = enter::main(&plan.to_string_lossy()).err();
            error.into_iter().for_each(|error| complain(&error));
            Some(ExitCode::from(enter::START_ERROR))
        }
        _ => None,
    }
}

fn serve(folder: &OsString) -> ExitCode {
    match executor::main(folder.as_ref(), executor::Options::default(), std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(ExecutorError::Taken) => ExitCode::from(executor::TAKEN),
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

#[expect(
    clippy::print_stderr,
    reason = "the one way to tell why it ended; the caller sends it to a file"
)]
fn complain(error: &dyn std::error::Error) {
    eprintln!("jobflow-test-volcano: {}", with_causes(error));
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
