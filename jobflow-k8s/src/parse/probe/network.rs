//! HTTP requests and connections to pods, in the core's words.

use std::sync::Arc;

use jobflow_core::Span;
use jobflow_core::condition::Condition;
use jobflow_core::probe::{Ask, HttpGet, Probe, Replicas};

use super::{Wanted, header, is_filled, path as request_path};
use crate::fault::{Code, Fault, FieldPath};
use crate::parse::counts::count;
use crate::types::{self, DependsOnProbe, ProbeReplicas, ProbeScheme};

/// From one look to the next.
const PERIOD_SECONDS: i64 = 10;
/// After which a look has failed.
const TIMEOUT_SECONDS: i64 = 1;

/// The probes that go over the network; what is wrong with one is noted, and the probe left out.
pub(super) fn probes<'a>(
    probe: &'a DependsOnProbe,
    path: &FieldPath,
    faults: &mut Vec<Fault>,
) -> Vec<Wanted<'a>> {
    without_probes(probe, path, faults);
    let tuned = Tuned::of(probe, path, faults);
    let mut wanted = Vec::new();
    for (at, get) in probe.http_get_list.iter().flatten().enumerate() {
        let path = path.field("httpGetList").index(at);
        let port = port(get.port, &path, faults);
        let ask = http_get(get, tuned.tls, &path, faults);
        if let (Some(port), Some(ask)) = (port, ask) {
            wanted.push(tuned.wanted(get.task_name.as_deref(), path, port, ask));
        }
    }
    for (at, socket) in probe.tcp_socket_list.iter().flatten().enumerate() {
        let path = path.field("tcpSocketList").index(at);
        if let Some(port) = port(socket.port, &path, faults) {
            wanted.push(tuned.wanted(socket.task_name.as_deref(), path, port, Ask::TcpSocket));
        }
    }
    wanted
}

/// What holds for all probes of an entry.
struct Tuned {
    period: Span,
    timeout: Span,
    success_threshold: u32,
    replicas: Replicas,
    tls: bool,
}

impl Tuned {
    fn of(probe: &DependsOnProbe, path: &FieldPath, faults: &mut Vec<Fault>) -> Self {
        let mut number = |value: Option<i64>, default: i64, most: u32, field: &str| {
            let value = Some(value.unwrap_or(default));
            count(value, (1, most), &path.field(field), faults).unwrap_or(1)
        };
        let seconds = |number: u32| Span::from_secs(u64::from(number));
        Self {
            period: seconds(number(
                probe.period_seconds,
                PERIOD_SECONDS,
                86_400,
                "periodSeconds",
            )),
            timeout: seconds(number(
                probe.timeout_seconds,
                TIMEOUT_SECONDS,
                3_600,
                "timeoutSeconds",
            )),
            success_threshold: number(probe.success_threshold, 1, 1_000, "successThreshold"),
            replicas: match probe.replicas.unwrap_or_default() {
                ProbeReplicas::All => Replicas::All,
                ProbeReplicas::Any => Replicas::Any,
            },
            tls: probe.scheme == Some(ProbeScheme::Https),
        }
    }

    fn wanted<'a>(&self, task: Option<&'a str>, path: FieldPath, port: u16, ask: Ask) -> Wanted<'a> {
        let task = task.unwrap_or_default();
        let probe = Probe {
            task: Arc::from(task),
            port,
            ask,
            period: self.period,
            timeout: self.timeout,
            success_threshold: self.success_threshold,
            replicas: self.replicas,
        };
        Wanted {
            task,
            path,
            condition: Condition::Probe(Arc::new(probe)),
        }
    }
}

/// Tuning that nothing listens to.
fn without_probes(probe: &DependsOnProbe, path: &FieldPath, faults: &mut Vec<Fault>) {
    let http = is_filled(probe.http_get_list.as_deref());
    let any = http || is_filled(probe.tcp_socket_list.as_deref());
    for (is_there, field) in [
        (probe.period_seconds.is_some() && !any, "periodSeconds"),
        (probe.timeout_seconds.is_some() && !any, "timeoutSeconds"),
        (probe.success_threshold.is_some() && !any, "successThreshold"),
        (probe.replicas.is_some() && !any, "replicas"),
        (probe.scheme.is_some() && !http, "scheme"),
    ] {
        if is_there {
            let lists = if field == "scheme" {
                "`httpGetList`"
            } else {
                "`httpGetList` or `tcpSocketList`"
            };
            let message = format!("`{field}` says nothing without {lists}");
            faults.push(Fault::error(Code::MissingField, path.field(field), message));
        }
    }
}

fn port(value: Option<i32>, path: &FieldPath, faults: &mut Vec<Fault>) -> Option<u16> {
    let path = path.field("port");
    let Some(value) = value else {
        faults.push(Fault::error(Code::MissingField, path, "a probe needs a `port`"));
        return None;
    };
    let number = count(Some(i64::from(value)), (1, u32::from(u16::MAX)), &path, faults)?;
    u16::try_from(number).ok()
}

fn http_get(get: &types::HttpGet, tls: bool, path: &FieldPath, faults: &mut Vec<Fault>) -> Option<Ask> {
    let before = faults.len();
    let target = request_path::of(get.path.as_deref(), &path.field("path"), faults);
    let header = header::of(get.http_header.as_ref(), &path.field("httpHeader"), faults);
    let get = HttpGet {
        tls,
        path: Arc::from(target),
        headers: header
            .into_iter()
            .map(|(name, value)| (Arc::from(name), Arc::from(value)))
            .collect(),
    };
    (faults.len() == before).then_some(Ask::HttpGet(get))
}
