//! `kubectl jobflow tree`: a flow, its entries, their jobs, the tasks and pods of these.

mod branches;

use serde_json::{Value, json};

use crate::arguments::Format;
use crate::arguments::cluster::TreeArguments;
use crate::cluster::Cluster;
use crate::cluster::family::{self, OwnedJob, OwnedPod};
use crate::cluster::flow::Flow;
use crate::console::Console;
use crate::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::past::now;
use crate::standing::{Row, Standing};
use branches::{Branch, drawn};

/// Shows the tree.
pub(crate) async fn run(
    arguments: &TreeArguments,
    cluster: &Cluster,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let flow = Flow::find(cluster, &arguments.flow).await?;
    let standing = Standing::of_flow(flow.readable()?, now());
    let jobs = family::jobs(cluster, &flow).await?;
    let pods = family::pods(cluster, flow.namespace(), &jobs).await?;
    let family = Family { standing, jobs, pods };
    match arguments.output {
        Format::Text => console.data(&drawn(&family.tree(), console.charset()))?,
        Format::Json => console.data(&escape::json(&family.as_json()))?,
    }
    Ok(Exit::Succeeded)
}

struct Family {
    standing: Standing,
    jobs: Vec<OwnedJob>,
    pods: Vec<OwnedPod>,
}

impl Family {
    fn tree(&self) -> Branch {
        let Standing {
            flow, phase, rows, ..
        } = &self.standing;
        let entries = rows.iter().map(|row| self.entry(row));
        let others = self.jobs_of(None).map(|(at, job)| self.job(at, job));
        Branch {
            text: format!("{flow}  {phase}  {}/{}", self.standing.done(), rows.len()),
            below: entries.chain(others).collect(),
        }
    }

    fn entry(&self, row: &Row) -> Branch {
        let why = match row.why.is_empty() {
            true => String::new(),
            false => format!("  {}", row.why),
        };
        Branch {
            text: format!("{}  {}{why}", row.name, row.phase),
            below: self
                .jobs_of(Some(&row.name))
                .map(|(at, job)| self.job(at, job))
                .collect(),
        }
    }

    /// The jobs of an entry; or those of which it can't be told whose they are.
    fn jobs_of(&self, entry: Option<&str>) -> impl Iterator<Item = (usize, &OwnedJob)> {
        let is_known = |job: &OwnedJob| {
            self.standing
                .rows
                .iter()
                .any(|row| Some(&row.name) == job.node.as_ref())
        };
        let of = move |job: &OwnedJob| match entry {
            Some(_) => job.node.as_deref() == entry,
            None => !is_known(job),
        };
        self.jobs.iter().enumerate().filter(move |(_, job)| of(job))
    }

    fn job(&self, at: usize, job: &OwnedJob) -> Branch {
        let attempt = match job.attempt {
            0 | 1 => String::new(),
            attempt => format!("  attempt {attempt}"),
        };
        let tasks = self.tasks(at).into_iter().map(|task| Branch {
            text: format!("task {task}"),
            below: self.pods_of(at, task).map(pod).collect(),
        });
        Branch {
            text: format!("job {}  {}{attempt}", job.name, job.phase),
            below: tasks.collect(),
        }
    }

    fn tasks(&self, job: usize) -> Vec<&str> {
        let mut tasks: Vec<&str> = self
            .pods
            .iter()
            .filter(|pod| pod.job == job)
            .map(|pod| pod.task.as_str())
            .collect();
        tasks.dedup();
        tasks
    }

    fn pods_of(&self, job: usize, task: &str) -> impl Iterator<Item = &OwnedPod> {
        self.pods
            .iter()
            .filter(move |pod| pod.job == job && pod.task == task)
    }

    fn as_json(&self) -> Value {
        let Standing {
            flow, phase, rows, ..
        } = &self.standing;
        let entry = |row: &Row| {
            json!({
                "name": row.name,
                "phase": row.phase.as_str(),
                "why": Some(&row.why).filter(|why| !why.is_empty()),
                "jobs": self.jobs_of(Some(&row.name)).map(|(at, job)| self.job_as_json(at, job)).collect::<Vec<_>>(),
            })
        };
        json!({
            "flow": flow,
            "phase": phase.as_str(),
            "nodes": rows.iter().map(entry).collect::<Vec<_>>(),
            "otherJobs": self.jobs_of(None).map(|(at, job)| self.job_as_json(at, job)).collect::<Vec<_>>(),
        })
    }

    fn job_as_json(&self, at: usize, job: &OwnedJob) -> Value {
        let OwnedJob {
            name,
            uid,
            node: _,
            index,
            attempt,
            phase,
        } = job;
        let pod = |pod: &OwnedPod| {
            json!({
                "name": pod.name(),
                "index": pod.index,
                "phase": pod.phase(),
                "reason": pod.reason(),
                "node": pod.machine(),
            })
        };
        let task =
            |task: &str| json!({ "name": task, "pods": self.pods_of(at, task).map(pod).collect::<Vec<_>>() });
        let tasks: Vec<Value> = self.tasks(at).into_iter().map(task).collect();
        json!({ "name": name, "uid": uid, "index": index, "attempt": attempt, "phase": phase, "tasks": tasks })
    }
}

fn pod(pod: &OwnedPod) -> Branch {
    let more = [pod.reason(), pod.machine().map(|machine| format!("on {machine}"))];
    let more: String = more
        .into_iter()
        .flatten()
        .map(|text| format!("  {text}"))
        .collect();
    Branch {
        text: format!("pod {}  {}{more}", pod.name(), pod.phase()),
        below: Vec::new(),
    }
}
