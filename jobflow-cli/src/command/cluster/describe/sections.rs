//! The parts of a description. Foreign text is escaped by `table`.

use std::collections::BTreeMap;

use jobflow_core::Time;
use jobflow_k8s::types::{JobFlow, NodeRecord, RequestResult};
use k8s_openapi::api::core::v1::Event;

use crate::cluster::flow::Flow;
use crate::standing::stored::waits;
use crate::standing::{Row, Standing};
use crate::table::{span, table};

/// Everything but the events; `now` is in milliseconds since 1970.
pub(super) fn of_flow(flow: &Flow, read: &JobFlow, now: i64) -> String {
    let standing = Standing::of_flow(read, now);
    let records: BTreeMap<&str, &NodeRecord> = records(read)
        .map(|record| (record.name.as_str(), record))
        .collect();
    let mut text = table(&head(flow, read, &standing, now));
    text += &section(
        "Conditions",
        &["TYPE", "STATUS", "REASON", "SINCE", "MESSAGE"],
        conditions(read, now),
    );
    let columns = [
        "NODE",
        "PHASE",
        "ATTEMPT",
        "TOOK",
        "REASON",
        "WAITS FOR",
        "MESSAGE",
    ];
    let waits = waits(read, &standing.rows);
    let nodes = standing
        .rows
        .iter()
        .map(|row| node(row, records.get(row.name.as_str()).copied(), &waits));
    text += &section("Nodes", &columns, nodes.collect());
    let columns = ["NODE", "ATTEMPT", "ENDED AS", "EXIT CODE", "TOOK"];
    text += &section("Earlier attempts", &columns, attempts(read));
    text += &section("Requests", &["ID", "RESULT", "BY", "MESSAGE"], requests(read));
    text
}

/// The events.
pub(super) fn of_events(events: &[Event], now: i64) -> String {
    let row = |event: &Event| {
        let seen = last_seen(event);
        vec![
            seen.map_or_else(String::new, |seen| span(now.saturating_sub(seen))),
            event.type_.clone().unwrap_or_default(),
            event.reason.clone().unwrap_or_default(),
            event
                .count
                .filter(|count| *count > 1)
                .map_or_else(String::new, |count| format!("{count}x")),
            event.message.clone().unwrap_or_default(),
        ]
    };
    section(
        "Events",
        &["AGE", "TYPE", "REASON", "COUNT", "MESSAGE"],
        events.iter().map(row).collect(),
    )
}

/// When an event was seen last, in milliseconds since 1970.
pub(super) fn last_seen(event: &Event) -> Option<i64> {
    let micro = event.event_time.as_ref().map(|time| time.0.as_millisecond());
    let last = event.last_timestamp.as_ref().map(|time| time.0.as_millisecond());
    let created = event
        .metadata
        .creation_timestamp
        .as_ref()
        .map(|time| time.0.as_millisecond());
    last.or(micro).or(created)
}

fn records(read: &JobFlow) -> impl Iterator<Item = &NodeRecord> {
    read.status
        .iter()
        .flat_map(|status| status.nodes.iter().flatten())
}

fn head(flow: &Flow, read: &JobFlow, standing: &Standing, now: i64) -> Vec<Vec<String>> {
    let created = flow.object.metadata.creation_timestamp.as_ref();
    let age = created.map_or_else(String::new, |time| {
        format!(
            "{} ({} ago)",
            time.0,
            span(now.saturating_sub(time.0.as_millisecond()))
        )
    });
    let spec = &read.spec;
    let policy = spec.failure_policy.unwrap_or_default();
    let cancel = spec.cancel.as_ref().map(|cancel| {
        let reason = cancel
            .reason
            .as_deref()
            .map(|reason| format!(": {reason}"))
            .unwrap_or_default();
        format!("{:?}{reason}", cancel.mode.unwrap_or_default())
    });
    let wishes = [
        ("Queue", spec.queue.clone()),
        ("Failure policy", Some(format!("{policy:?}"))),
        ("Parallelism", spec.parallelism.map(|most| most.to_string())),
        (
            "Suspended",
            (spec.suspend == Some(true)).then(|| "yes".to_owned()),
        ),
        ("Cancel", cancel),
    ];
    let known = [
        ("Name", Some(flow.name().to_owned())),
        ("Namespace", Some(flow.namespace().to_owned())),
        ("Created", Some(age)),
        ("Phase", Some(standing.phase.to_string())),
        (
            "Progress",
            Some(format!("{}/{}", standing.done(), standing.rows.len())),
        ),
        ("Took", Some(span(standing.took))),
        ("Behind", behind(read)),
    ];
    let rows = known.into_iter().chain(wishes);
    rows.filter_map(|(name, value)| Some(vec![format!("{name}:"), value?]))
        .collect()
}

/// That the status speaks of an older spec.
fn behind(read: &JobFlow) -> Option<String> {
    let generation = read.metadata.generation?;
    let observed = read.status.as_ref()?.observed_generation?;
    (observed < generation).then(|| {
        format!(
            "the status is of generation {observed}, the spec is {generation}: no controller has seen it yet"
        )
    })
}

fn conditions(read: &JobFlow, now: i64) -> Vec<Vec<String>> {
    let all = read
        .status
        .iter()
        .flat_map(|status| status.flow_conditions.iter().flatten());
    all.map(|condition| {
        vec![
            condition.type_.clone(),
            condition.status.clone(),
            condition.reason.clone(),
            span(now.saturating_sub(condition.last_transition_time.0.as_millisecond())),
            condition.message.clone(),
        ]
    })
    .collect()
}

fn node(row: &Row, record: Option<&NodeRecord>, waits: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut cells = vec![
        row.name.clone(),
        row.phase.to_string(),
        if row.attempt == 0 {
            String::new()
        } else {
            row.attempt.to_string()
        },
        row.took.map(span).unwrap_or_default(),
    ];
    let Some(record) = record else {
        let targets = waits.get(&row.name).map(|targets| targets.join(", "));
        let (waits, message) = match targets {
            Some(targets) => (targets, String::new()),
            None => (String::new(), row.why.clone()),
        };
        cells.extend([String::new(), waits, message]);
        return cells;
    };
    cells.push(reason(record));
    cells.push(
        waits
            .get(&row.name)
            .map(|targets| targets.join(", "))
            .unwrap_or_default(),
    );
    let code = record.exit_code.map(|code| format!("exit code {code}"));
    let message = [code, record.message.clone()]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("; ");
    cells.push(message);
    cells
}

/// The word of the status, and whose fault it is.
fn reason(record: &NodeRecord) -> String {
    let cause = record.cause.as_ref().and_then(|cause| cause.node.as_deref());
    match (
        record.reason.as_deref(),
        cause.filter(|cause| *cause != record.name),
    ) {
        (Some(reason), Some(cause)) => format!("{reason} ({cause})"),
        (reason, cause) => reason.or(cause).unwrap_or_default().to_owned(),
    }
}

fn attempts(read: &JobFlow) -> Vec<Vec<String>> {
    let of = |record: &NodeRecord| -> Vec<Vec<String>> {
        let attempts = record.attempts.iter().flatten();
        attempts
            .map(|attempt| {
                let times = attempt.start_time.zip(attempt.finish_time);
                let took = times.map(|(from, to)| Time::from(to).0.saturating_sub(Time::from(from).0));
                vec![
                    record.name.clone(),
                    attempt.attempt.unwrap_or(1).to_string(),
                    attempt.reason.clone().unwrap_or_default(),
                    attempt
                        .exit_code
                        .map_or_else(String::new, |code| code.to_string()),
                    took.map(span).unwrap_or_default(),
                ]
            })
            .collect()
    };
    records(read).flat_map(of).collect()
}

fn requests(read: &JobFlow) -> Vec<Vec<String>> {
    let answered: BTreeMap<&str, _> = read
        .status
        .iter()
        .flat_map(|status| status.requests.iter().flatten())
        .map(|request| (request.id.as_str(), request))
        .collect();
    let open = read
        .spec
        .requests
        .iter()
        .flatten()
        .filter(|request| !answered.contains_key(request.id.as_str()));
    let open = open.map(|request| {
        let by = request.by.clone().unwrap_or_default();
        vec![
            request.id.clone(),
            "not done yet".to_owned(),
            by,
            request.message.clone().unwrap_or_default(),
        ]
    });
    let done = answered.values().map(|request| {
        let result = match request.result {
            RequestResult::Done => "done",
            RequestResult::Refused => "refused",
        };
        let by = request.by.clone().unwrap_or_default();
        vec![
            request.id.clone(),
            result.to_owned(),
            by,
            request.message.clone().unwrap_or_default(),
        ]
    });
    done.chain(open).collect()
}

/// A headed table, indented; nothing where there are no rows.
fn section(title: &str, columns: &[&str], rows: Vec<Vec<String>>) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let head = columns.iter().map(|name| (*name).to_owned()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    let lines: String = table(&rows).lines().map(|line| format!("  {line}\n")).collect();
    format!("\n{title}:\n{lines}")
}
