//! `kubectl jobflow watch`: a table that is drawn anew on a terminal, a line a change in a pipe, objects for programs.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use jobflow_core::{FlowPhase, NodePhase};
use serde_json::{Value, json};

use crate::arguments::Format;
use crate::arguments::cluster::WatchArguments;
use crate::cluster::Cluster;
use crate::cluster::flow::Flow;
use crate::cluster::follow::{Follow, Seen};
use crate::cluster::refusal::gone;
use crate::console::Console;
use crate::display::{Screen, Size, frame};
use crate::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::past::now;
use crate::standing::{Row, Standing};
use crate::table::span;

use super::wait::within;

/// How often the times in a table are drawn anew.
const TICK: Duration = Duration::from_secs(1);

/// Watches a flow to its end.
pub(crate) async fn run(
    arguments: &WatchArguments,
    cluster: &Cluster,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let mut follow = Follow::new(cluster, &arguments.flow, None);
    let mut view = View::new(arguments.output);
    loop {
        // Only a table has times that pass.
        let deadline = console.drawable().map(|_| tokio::time::Instant::now() + TICK);
        let Some(seen) = within(deadline, follow.next(console)).await else {
            view.tick(console);
            continue;
        };
        let flow = match seen {
            Ok(Seen::There(flow)) => flow,
            Ok(Seen::Gone) => {
                view.clear(console);
                return Err(gone(&arguments.flow, &cluster.namespace));
            }
            Err(failure) => {
                view.clear(console);
                return Err(failure);
            }
        };
        let standing = view.show(&flow, console)?;
        if standing.phase.is_end() {
            view.ended(&standing, console)?;
            return Ok(match standing.phase {
                FlowPhase::Succeed => Exit::Succeeded,
                FlowPhase::Failed | FlowPhase::Pending | FlowPhase::Running | FlowPhase::Terminating => {
                    Exit::FlowFailed
                }
            });
        }
    }
}

struct View {
    format: Format,
    screen: Screen,
    flow: Option<Box<Flow>>,
    known: BTreeMap<String, (NodePhase, u32, String)>,
}

impl View {
    fn new(format: Format) -> Self {
        Self {
            format,
            screen: Screen::default(),
            flow: None,
            known: BTreeMap::new(),
        }
    }

    fn show(&mut self, flow: &Flow, console: &mut Console) -> Result<Standing, Failure> {
        let standing = Standing::of_flow(flow.readable()?, now());
        match (self.format, console.drawable()) {
            (Format::Text, Some(size)) => self.draw(&standing, size, console),
            (format, _) => self.lines(&standing, format, console)?,
        }
        self.flow = Some(Box::new(flow.clone()));
        Ok(standing)
    }

    fn tick(&mut self, console: &mut Console) {
        let read = self.flow.as_ref().and_then(|flow| flow.read.as_deref().ok());
        let standing = read.map(|read| Standing::of_flow(read, now()));
        if let (Some(standing), Some(size)) = (standing, console.drawable()) {
            self.draw(&standing, size, console);
        }
    }

    fn draw(&mut self, standing: &Standing, size: Size, console: &mut Console) {
        let lines = frame(standing, size).into_iter();
        let lines: Vec<String> = lines.map(|line| console.plain_or_styled(line)).collect();
        let text = self.screen.draw(&lines, Instant::now());
        console.redraw(&text);
    }

    fn lines(&mut self, standing: &Standing, format: Format, console: &mut Console) -> Result<(), Failure> {
        for row in &standing.rows {
            let state = (row.phase, row.attempt, row.why.clone());
            let before = self.known.insert(row.name.clone(), state.clone());
            let is_news = before
                .as_ref()
                .map_or(row.phase != NodePhase::Waiting, |before| *before != state);
            if is_news {
                console.data(&match format {
                    Format::Text => line(row, standing.took),
                    Format::Json => escape::json_line(&event(row, before.map(|(phase, ..)| phase))),
                })?;
            }
        }
        console.flush()
    }

    fn clear(&mut self, console: &mut Console) {
        let clear = self.screen.clear();
        console.redraw(&clear);
    }

    fn ended(&mut self, standing: &Standing, console: &mut Console) -> Result<(), Failure> {
        self.clear(console);
        if self.format == Format::Json {
            let mut object = standing.as_json();
            object["event"] = "ended".into();
            return console.data(&escape::json_line(&object));
        }
        let size = Size {
            width: console.data_width(),
            height: None,
            charset: console.charset(),
        };
        console.data(&(frame(standing, size).join("\n") + "\n"))
    }
}

fn line(row: &Row, took: i64) -> String {
    let attempt = match row.attempt {
        0 | 1 => String::new(),
        attempt => format!(", attempt {attempt}"),
    };
    let why = match row.why.is_empty() {
        true => String::new(),
        false => format!(" ({})", row.why),
    };
    escape::terminal(&format!(
        "[{}] {}: {}{attempt}{why}",
        span(took),
        row.name,
        row.phase
    )) + "\n"
}

fn event(row: &Row, from: Option<NodePhase>) -> Value {
    json!({
        "event": "node",
        "node": row.name,
        "attempt": row.attempt,
        "from": from.unwrap_or(NodePhase::Waiting).as_str(),
        "to": row.phase.as_str(),
        "why": Some(&row.why).filter(|why| !why.is_empty()),
    })
}
