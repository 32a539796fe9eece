//! A JobFlow as the core takes it.
//!
//! Comes in: the object, the templates that are known, the kinds of predicates that the program registered. Goes out:
//! a graph, a policy, what people ask for, and what each job is made from; or every fault with its path. A field that
//! isn't acted on yet is a fault: nothing is ever ignored. Deliberately absent: the status, and anything that lives.

mod counts;
mod depends;
mod entry;
mod frozen;
mod graph;
mod known;
mod lint;
mod naming;
mod policy;
mod probe;
mod retry;
#[cfg(test)]
mod tests;
mod unavailable;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jobflow_core::graph::Entry;
use jobflow_core::key::NodeId;
use jobflow_core::snapshot::Wishes;
use jobflow_core::{FlowGraph, Policy};
use serde_json::Value;

pub(crate) use policy::wishes;

use crate::check::{Subject, subject};
use crate::fault::{Code, Fault, FieldPath};
use crate::job::JobView;
use crate::schema::{Kind, Schemas};
use crate::types::{self, JobFlow, JobFlowSpec};
use crate::yaml::Document;
pub use frozen::frozen;
pub use known::{Known, KnownTemplate};

/// The largest spec of a flow, in bytes of JSON.
pub const MOST_SPEC_BYTES: usize = 1 << 20;

/// A flow that can be planned.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// The graph; its nodes are the entries of `flows`, then those of `finally`.
    pub graph: FlowGraph,
    /// What holds for the whole flow.
    pub policy: Policy,
    /// What people ask for.
    pub wishes: Wishes,
    /// The entries as written, by node.
    pub entries: Vec<types::Entry>,
    /// What its author should look at nonetheless.
    pub warnings: Vec<Fault>,
}

/// Parses the spec of a flow.
///
/// # Errors
///
/// Everything that is wrong with it, each with its path from the root of the object.
pub fn parse(flow: &JobFlow, known: Known<'_>) -> Result<Flow, Vec<Fault>> {
    let uid = flow.metadata.uid.as_deref().unwrap_or_default();
    parse_spec(&naming::flow_name(&flow.metadata), uid, &flow.spec, known)
}

/// Checks a document, and parses it if it is a flow.
///
/// ```
/// use jobflow_k8s::parse::{Known, parse_document};
/// use jobflow_k8s::schema::Schemas;
/// use jobflow_k8s::yaml;
///
/// let text = "
/// apiVersion: flow.volcano.sh/v1alpha1
/// kind: JobFlow
/// metadata: {name: nightly}
/// spec:
///   flows:
///   - name: train
///   - name: report
///     dependsOn: {targets: [trian]}
/// ";
/// let reading = yaml::read("flow.yaml", text);
/// let faults = parse_document(&Schemas::new(), &reading.documents[0], Known::default()).unwrap_err();
/// assert_eq!(
///     faults[0].to_string(),
///     "flow.yaml:9:27: error[unknown-reference]: spec.flows[1].dependsOn.targets[0]: \
///      the flow has no entry `trian` (did you mean `train`?)"
/// );
/// ```
///
/// # Errors
///
/// Everything that is wrong with it, each with its path and place.
pub fn parse_document(schemas: &Schemas, document: &Document, known: Known<'_>) -> Result<Flow, Vec<Fault>> {
    let mut faults = schemas.check_document(document);
    let flow = match subject(&document.value) {
        Subject::Ours(Kind::JobFlow) => serde_json::from_value::<JobFlow>(document.value.clone()).ok(),
        Subject::Ours(_) | Subject::LookAlike(_) | Subject::Foreign => None,
    };
    let parsed = flow.map(|flow| parse(&flow, known));
    let found: BTreeSet<_> = faults
        .iter()
        .map(|fault| (fault.code, fault.path.clone()))
        .collect();
    let is_new = |fault: &Fault| !found.contains(&(fault.code, fault.path.clone()));
    match parsed {
        Some(Ok(mut flow)) if !faults.iter().any(Fault::is_error) => {
            flow.warnings.extend(faults);
            flow.warnings = flow
                .warnings
                .into_iter()
                .map(|fault| document.with_place(fault))
                .collect();
            Ok(flow)
        }
        Some(Err(more)) => {
            let more = more
                .into_iter()
                .filter(is_new)
                .map(|fault| document.with_place(fault));
            faults.extend(more);
            Err(faults)
        }
        Some(Ok(_)) => Err(faults),
        None => {
            if !faults.iter().any(Fault::is_error) {
                let message = "not a JobFlow that can be read";
                faults.push(document.with_place(Fault::error(Code::UnknownKind, FieldPath::root(), message)));
            }
            Err(faults)
        }
    }
}

fn parse_spec(name: &str, uid: &str, spec: &JobFlowSpec, known: Known<'_>) -> Result<Flow, Vec<Fault>> {
    let root = FieldPath::root().field("spec");
    let mut faults = unavailable::faults(spec, &root);
    faults.extend(too_large(spec, &root));
    let entries = Entries::of(spec, &root, known);
    faults.extend(naming::faults(name, &entries, spec));
    let policy = policy::of(spec, uid, &root, &mut faults);
    let mut built = Vec::new();
    for placed in &entries.placed {
        built.push(entry::of(placed, spec, &entries, known, &mut faults));
    }
    let graph = match FlowGraph::from_names(built.iter().map(|built| built.entry.clone()).collect()) {
        Ok(graph) => Some(graph),
        Err(found) => {
            faults.extend(graph::faults(&found, &entries, &built));
            None
        }
    };
    faults.extend(
        graph
            .iter()
            .flat_map(|graph| lint::warnings(graph, &entries, &built)),
    );
    let (errors, warnings): (Vec<_>, Vec<_>) = faults.into_iter().partition(Fault::is_error);
    match graph {
        Some(graph) if errors.is_empty() => Ok(Flow {
            graph,
            policy,
            wishes: wishes(spec),
            entries: entries
                .placed
                .into_iter()
                .map(|placed| placed.entry.clone())
                .collect(),
            warnings,
        }),
        Some(_) | None => Err(errors.into_iter().chain(warnings).collect()),
    }
}

fn too_large(spec: &JobFlowSpec, root: &FieldPath) -> Option<Fault> {
    let size = serde_json::to_vec(spec).map_or(0, |bytes| bytes.len());
    let message = format!("the spec has {size} bytes; at most {MOST_SPEC_BYTES} are taken");
    (size > MOST_SPEC_BYTES).then(|| {
        Fault::error(Code::TooLarge, root.clone(), message)
            .with_help("use templates in place of inline specs")
    })
}

/// All entries of a flow with their paths; the position is the node.
struct Entries<'a> {
    placed: Vec<Placed<'a>>,
    /// Positions by name; of a name that stands twice, the last.
    positions: BTreeMap<&'a str, usize>,
}

/// An entry and where it stands.
struct Placed<'a> {
    entry: &'a types::Entry,
    finally: bool,
    path: FieldPath,
    /// What its Job looks like, patched, as far as that is known.
    job: Option<Cow<'a, JobView>>,
}

/// An entry in the core's words, and the path of each of its targets.
struct Built {
    entry: Entry<Arc<str>>,
    targets: Vec<FieldPath>,
}

impl<'a> Entries<'a> {
    fn of(spec: &'a JobFlowSpec, root: &FieldPath, known: Known<'a>) -> Self {
        let list = |entries: &'a Option<Vec<types::Entry>>, field: &str, finally| {
            let path = root.field(field);
            entries
                .iter()
                .flatten()
                .enumerate()
                .map(move |(at, entry)| Placed {
                    entry,
                    finally,
                    path: path.index(at),
                    job: known.job(entry),
                })
        };
        let placed: Vec<_> = list(&spec.flows, "flows", false)
            .chain(list(&spec.finally, "finally", true))
            .collect();
        let positions = placed
            .iter()
            .enumerate()
            .map(|(at, placed)| (placed.entry.name.as_str(), at))
            .collect();
        Self { placed, positions }
    }

    fn find(&self, name: &str) -> Option<&Placed<'a>> {
        self.positions.get(name).and_then(|at| self.placed.get(*at))
    }

    fn path(&self, node: NodeId) -> FieldPath {
        self.placed
            .get(node.position())
            .map_or_else(FieldPath::root, |placed| placed.path.clone())
    }

    fn names(&self) -> impl Iterator<Item = &'a str> {
        self.positions.keys().copied()
    }
}

/// A digest of a value: the same for the same JSON.
pub(crate) fn digest(value: &Value) -> u64 {
    use sha2::{Digest, Sha256};

    let digest = Sha256::digest(value.to_string().as_bytes());
    digest
        .iter()
        .take(8)
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}
