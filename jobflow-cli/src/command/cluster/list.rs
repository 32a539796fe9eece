//! `kubectl jobflow list`: flows as rows, and with `--watch` a row whenever one changes.

mod row;

use std::collections::BTreeMap;

use futures::StreamExt;
use jobflow_k8s::status::core_flow_phase;
use kube::api::ListParams;
use kube::runtime::{WatchStreamExt, watcher};
use serde_json::json;

use crate::arguments::cluster::{FlowPhaseName, ListArguments, ObjectFormat};
use crate::cluster::flow::Flow;
use crate::cluster::queues::queues;
use crate::cluster::refusal::{is_passing, of_watch};
use crate::cluster::{Cluster, kinds, pages};
use crate::console::Console;
use crate::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::past::now;
use crate::table::table;
use row::Columns;

const INTENT: &str = "list flows";

/// Queues of templates by namespace and name.
type Templates = BTreeMap<String, BTreeMap<String, String>>;

/// Lists flows.
pub(crate) async fn run(
    arguments: &ListArguments,
    cluster: &Cluster,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let namespace = (!arguments.all_namespaces).then_some(cluster.namespace.as_str());
    let list = List {
        arguments,
        columns: Columns {
            namespace: arguments.all_namespaces,
            wide: arguments.output == ObjectFormat::Wide,
        },
        templates: templates(arguments, cluster, namespace).await?,
    };
    if arguments.watch {
        return list.watch(cluster, namespace, console).await;
    }
    let api = kinds::api(&cluster.client, namespace, &kinds::flows());
    let objects = pages::all(cluster, INTENT, &api, list.selection()).await?;
    let mut flows: Vec<Flow> = objects
        .into_iter()
        .map(Flow::of)
        .filter(|flow| list.is_wanted(flow))
        .collect();
    flows.sort_by(|a, b| (a.namespace(), a.name()).cmp(&(b.namespace(), b.name())));
    list.show(&flows, namespace, console)?;
    Ok(Exit::Succeeded)
}

struct List<'a> {
    arguments: &'a ListArguments,
    columns: Columns,
    templates: Templates,
}

impl List<'_> {
    fn selection(&self) -> ListParams {
        match &self.arguments.selector {
            Some(selector) => ListParams::default().labels(selector),
            None => ListParams::default(),
        }
    }

    fn is_wanted(&self, flow: &Flow) -> bool {
        let phases = &self.arguments.phase;
        let in_phase = phases.is_empty() || phases.iter().any(|phase| is_in(flow, *phase));
        let has_queue = match (&self.arguments.queue, &flow.read) {
            (None, _) => true,
            (Some(queue), Ok(read)) => {
                let none = BTreeMap::new();
                let templates = self.templates.get(flow.namespace()).unwrap_or(&none);
                queues(&read.spec, templates).contains(queue)
            }
            (Some(_), Err(_)) => false,
        };
        in_phase && has_queue
    }

    fn show(&self, flows: &[Flow], namespace: Option<&str>, console: &mut Console) -> Result<(), Failure> {
        match self.arguments.output {
            ObjectFormat::Json => console.data(&escape::json(&as_list(flows))),
            ObjectFormat::Yaml => console.data(&escape::yaml(&as_list(flows))),
            ObjectFormat::Name => console.data(&flows.iter().map(name).collect::<String>()),
            ObjectFormat::Text | ObjectFormat::Wide if flows.is_empty() => {
                let place = namespace
                    .map(|namespace| format!(" in namespace {namespace}"))
                    .unwrap_or_default();
                console.talk(&format!("no flows{place}\n"));
                Ok(())
            }
            ObjectFormat::Text | ObjectFormat::Wide => {
                let rows = flows.iter().map(|flow| self.columns.row(flow, now()));
                let rows: Vec<_> = std::iter::once(self.columns.head()).chain(rows).collect();
                console.data(&table(&rows))
            }
        }
    }

    /// A row whenever a flow changes, to the end of time.
    async fn watch(
        &self,
        cluster: &Cluster,
        namespace: Option<&str>,
        console: &mut Console,
    ) -> Result<Exit, Failure> {
        let api = kinds::api(&cluster.client, namespace, &kinds::flows());
        let config = watcher::Config {
            label_selector: self.arguments.selector.clone(),
            ..watcher::Config::default()
        };
        let mut events = std::pin::pin!(watcher(api, config).default_backoff());
        let mut lines = Lines::default();
        while let Some(event) = events.next().await {
            let (object, gone) = match event {
                Ok(watcher::Event::InitApply(object) | watcher::Event::Apply(object)) => (object, false),
                Ok(watcher::Event::Delete(object)) => (object, true),
                Ok(watcher::Event::Init | watcher::Event::InitDone) => continue,
                Err(error) if is_passing(&error) => continue,
                Err(error) => return Err(of_watch(INTENT, &error)),
            };
            let flow = Flow::of(object);
            if self.is_wanted(&flow) {
                self.line(&flow, gone, &mut lines, console)?;
            }
        }
        Ok(Exit::Succeeded)
    }

    fn line(&self, flow: &Flow, gone: bool, lines: &mut Lines, console: &mut Console) -> Result<(), Failure> {
        let text = match self.arguments.output {
            ObjectFormat::Json => escape::json_line(&kinds::printed(&flow.object, &kinds::flows())),
            ObjectFormat::Yaml => format!(
                "---\n{}",
                escape::yaml(&kinds::printed(&flow.object, &kinds::flows()))
            ),
            ObjectFormat::Name => name(flow),
            ObjectFormat::Text | ObjectFormat::Wide => {
                let head = lines.is_first().then(|| self.columns.head());
                let mut row = self.columns.row(flow, now());
                if gone {
                    row.push("deleted".to_owned());
                }
                lines.aligned(head, row)
            }
        };
        console.data(&text)?;
        console.flush()
    }
}

/// Lines that come one after the other, with columns that only grow.
#[derive(Default)]
struct Lines {
    widths: Vec<usize>,
}

impl Lines {
    const fn is_first(&self) -> bool {
        self.widths.is_empty()
    }

    fn aligned(&mut self, head: Option<Vec<String>>, row: Vec<String>) -> String {
        let mut text = String::new();
        for cells in head.into_iter().chain([row]) {
            let mut line = String::new();
            for (at, cell) in cells.iter().enumerate() {
                let cell = escape::terminal(cell);
                let length = cell.chars().count();
                match self.widths.get_mut(at) {
                    Some(width) => *width = length.max(*width),
                    None => self.widths.push(length),
                }
                let width = self.widths.get(at).copied().unwrap_or(length);
                line.push_str(&format!("{cell:width$}  "));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

fn is_in(flow: &Flow, phase: FlowPhaseName) -> bool {
    use jobflow_core::FlowPhase;
    let wanted = match phase {
        FlowPhaseName::Pending => FlowPhase::Pending,
        FlowPhaseName::Running => FlowPhase::Running,
        FlowPhaseName::Succeed => FlowPhase::Succeed,
        FlowPhaseName::Failed => FlowPhase::Failed,
        FlowPhaseName::Terminating => FlowPhase::Terminating,
    };
    core_flow_phase(flow.phase()) == wanted
}

fn name(flow: &Flow) -> String {
    format!("jobflow.flow.volcano.sh/{}\n", escape::terminal(flow.name()))
}

fn as_list(flows: &[Flow]) -> serde_json::Value {
    let items: Vec<_> = flows
        .iter()
        .map(|flow| kinds::printed(&flow.object, &kinds::flows()))
        .collect();
    json!({ "apiVersion": "v1", "kind": "List", "metadata": {}, "items": items })
}

/// The queues of templates, where flows are chosen by queue.
async fn templates(
    arguments: &ListArguments,
    cluster: &Cluster,
    namespace: Option<&str>,
) -> Result<Templates, Failure> {
    let mut templates = Templates::new();
    if arguments.queue.is_none() {
        return Ok(templates);
    }
    let api = kinds::api(&cluster.client, namespace, &kinds::templates());
    for template in pages::all(cluster, "list job templates", &api, ListParams::default()).await? {
        let queue = template
            .data
            .pointer("/spec/queue")
            .and_then(|queue| queue.as_str());
        let metadata = &template.metadata;
        if let (Some(namespace), Some(name), Some(queue)) = (&metadata.namespace, &metadata.name, queue) {
            let of = templates.entry(namespace.clone()).or_default();
            of.insert(name.clone(), queue.to_owned());
        }
    }
    Ok(templates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_lines_that_come_later_only_grow() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let mut lines = Lines::default();
        assert_eq!(
            lines.aligned(Some(row(["NAME", "AGE"])), row(["a", "1s"])),
            "NAME  AGE\na     1s\n"
        );
        assert_eq!(
            lines.aligned(None, row(["longer", "\u{1b}"])),
            "longer  \\u{1b}\n"
        );
        assert_eq!(lines.aligned(None, row(["b", "2s"])), "b       2s\n");
    }
}
