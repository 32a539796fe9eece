//! Probes that can't be asked here, told ahead: of ports that nobody declares, and over a TLS that isn't built in.

use jobflow_core::{
    NodeId,
    condition::Condition,
    probe::{Ask, Probe},
};
use jobflow_k8s::{
    fault::{Code, Fault, FieldPath},
    probe::SPEAKS_TLS,
};

use super::{Input, Prepared, ReadyJob};

/// What is wrong with the probes of a flow; `jobs` are those of its nodes that can be built.
pub(super) fn faults(input: &Input, prepared: &Prepared, jobs: &[Option<ReadyJob>]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (position, entry) in prepared.flow.graph.entries().iter().enumerate() {
        let node = NodeId(u32::try_from(position).unwrap_or(u32::MAX));
        let path = prepared.path(input, node).field("dependsOn").field("probe");
        for target in &entry.targets {
            let job = jobs.get(target.node.position()).and_then(Option::as_ref);
            let name = &prepared.flow.graph.entry(target.node).name;
            for rule in target.rules.as_slice() {
                if let Condition::Probe(probe) = &rule.condition {
                    faults.extend(fault(probe, &path, name, job));
                }
            }
        }
    }
    faults.dedup();
    faults
}

fn fault(probe: &Probe, path: &FieldPath, target: &str, job: Option<&ReadyJob>) -> Option<Fault> {
    if matches!(&probe.ask, Ask::HttpGet(get) if get.tls) && !SPEAKS_TLS {
        let message = "this program was built without TLS";
        let fault = Fault::error(Code::Unsupported, path.field("scheme"), message);
        return Some(fault.with_help("build it with the feature `tls`, or probe over HTTP"));
    }
    let prepared = &job?.prepared;
    let is_asked = |name: &str| probe.task.is_empty() || *name == *probe.task;
    let mut asked = prepared.tasks().enumerate().filter(|(_, name)| is_asked(name));
    let (_, task) = asked.find(|(task, _)| !prepared.declares(*task, probe.port))?;
    let port = probe.port;
    let message =
        format!("port {port} of `{target}` is probed, and no container of its task `{task}` declares it");
    let fault = Fault::error(Code::Unsupported, path.clone(), message);
    Some(fault.with_help(format!(
        "write `ports: [{{containerPort: {port}}}]` in the container that listens there: on this machine, what nobody \
         declares may be another program's"
    )))
}
