//! When a container counts as ready: the `readinessProbe` of its template, read once and checked.

use std::sync::Arc;

use jobflow_core::{
    Span,
    probe::{Ask, HttpGet, Probe, Replicas},
};
use jobflow_k8s::{fault::FieldPath, probe::SPEAKS_TLS};
use serde::Deserialize;
use serde_json::Value;

use super::{Container, PodFault};

/// When a container counts as ready, beyond that it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readiness {
    /// What is looked at.
    pub check: Check,
    /// How long after its start the first look is.
    pub initial_delay: Span,
    /// From one look to the next.
    pub period: Span,
    /// After which a look has failed.
    pub timeout: Span,
    /// How many looks in a row must succeed.
    pub success_threshold: u32,
    /// How many looks in a row must fail until it isn't ready any more.
    pub failure_threshold: u32,
}

/// What is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// A command that succeeds in the container.
    Exec(Vec<String>),
    /// A port of the pod.
    Port(u16, Ask),
}

/// A `readinessProbe` as it is written.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReadinessProbe {
    exec: Option<Exec>,
    http_get: Option<HttpAction>,
    tcp_socket: Option<SocketAction>,
    grpc: Option<Value>,
    initial_delay_seconds: Option<u32>,
    period_seconds: Option<u32>,
    timeout_seconds: Option<u32>,
    success_threshold: Option<u32>,
    failure_threshold: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Exec {
    command: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct HttpAction {
    path: String,
    port: Value,
    host: String,
    scheme: String,
    http_headers: Vec<Header>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Header {
    name: String,
    value: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct SocketAction {
    port: Value,
    host: String,
}

/// A port that a container says that it listens at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerPort {
    /// Its name, if it has one.
    pub name: String,
    /// Its number.
    pub container_port: u16,
}

impl Container {
    /// When it counts as ready; none: as soon as it runs.
    ///
    /// # Errors
    ///
    /// What of its `readinessProbe` can't be looked at here, with the path from `path`, where the container is.
    pub fn readiness(&self, path: &FieldPath) -> Result<Option<Readiness>, PodFault> {
        let Some(written) = &self.readiness_probe else {
            return Ok(None);
        };
        let path = path.field("readinessProbe");
        let or = |value: Option<u32>, default: u32| value.filter(|value| *value > 0).unwrap_or(default);
        let seconds = |value: u32| Span::from_secs(u64::from(value));
        Ok(Some(Readiness {
            check: self.check(written, &path)?,
            initial_delay: seconds(written.initial_delay_seconds.unwrap_or(0)),
            period: seconds(or(written.period_seconds, 10)),
            timeout: seconds(or(written.timeout_seconds, 1)),
            success_threshold: or(written.success_threshold, 1),
            failure_threshold: or(written.failure_threshold, 3),
        }))
    }

    fn check(&self, written: &ReadinessProbe, path: &FieldPath) -> Result<Check, PodFault> {
        match (
            &written.exec,
            &written.http_get,
            &written.tcp_socket,
            &written.grpc,
        ) {
            (Some(exec), None, None, None) if !exec.command.is_empty() => {
                Ok(Check::Exec(exec.command.clone()))
            }
            (None, Some(get), None, None) => self.http_get(get, &path.field("httpGet")),
            (None, None, Some(socket), None) => {
                let path = path.field("tcpSocket");
                own_host(&socket.host, &path)?;
                Ok(Check::Port(self.port(&socket.port, &path)?, Ask::TcpSocket))
            }
            (None, None, None, Some(_)) => {
                let message =
                    "gRPC is not asked here; ask a port with `tcpSocket`, or run a command with `exec`";
                Err(PodFault::new(path.field("grpc"), message))
            }
            _ => {
                let message = "has exactly one of `exec` (with a command), `httpGet` and `tcpSocket`";
                Err(PodFault::new(path.clone(), message))
            }
        }
    }

    fn http_get(&self, get: &HttpAction, path: &FieldPath) -> Result<Check, PodFault> {
        own_host(&get.host, path)?;
        let port = self.port(&get.port, path)?;
        let tls = match get.scheme.as_str() {
            "" | "HTTP" => false,
            "HTTPS" if SPEAKS_TLS => true,
            "HTTPS" => {
                let message = "this program was built without TLS (feature `tls`)";
                return Err(PodFault::new(path.field("scheme"), message));
            }
            other => {
                let message = format!("`{other}` is neither HTTP nor HTTPS");
                return Err(PodFault::new(path.field("scheme"), message));
            }
        };
        let written = match get.path.as_str() {
            "" => "/".to_owned(),
            rooted if rooted.starts_with('/') => rooted.to_owned(),
            other => format!("/{other}"),
        };
        let headers = get
            .http_headers
            .iter()
            .map(|header| (header.name.as_str().into(), header.value.as_str().into()));
        Ok(Check::Port(
            port,
            Ask::HttpGet(HttpGet {
                tls,
                path: written.into(),
                headers: headers.collect::<Vec<_>>().into(),
            }),
        ))
    }

    /// A port by number, or by the name that the container gives it.
    fn port(&self, written: &Value, path: &FieldPath) -> Result<u16, PodFault> {
        let found = match written {
            Value::String(name) => self
                .ports
                .iter()
                .find(|port| port.name == *name && !name.is_empty())
                .map(|port| port.container_port)
                .or_else(|| name.parse().ok()),
            Value::Number(number) => number.as_u64().and_then(|number| u16::try_from(number).ok()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        found.filter(|port| *port > 0).ok_or_else(|| {
            let message =
                "is neither a number from 1 to 65535 nor the name of one of the container's `ports`";
            PodFault::new(path.field("port"), message)
        })
    }
}

fn own_host(host: &str, path: &FieldPath) -> Result<(), PodFault> {
    if host.is_empty() {
        return Ok(());
    }
    let message = "only the pod's own address is asked here: take `host` away";
    Err(PodFault::new(path.field("host"), message))
}

impl Readiness {
    /// The question to a port; none for a command.
    #[must_use]
    pub fn probe(&self) -> Option<Arc<Probe>> {
        match &self.check {
            Check::Port(port, ask) => Some(self.asked(*port, ask.clone())),
            Check::Exec(_) => None,
        }
    }

    /// A probe that stands for a command: only its times mean something.
    #[must_use]
    pub fn times(&self) -> Arc<Probe> {
        self.asked(0, Ask::TcpSocket)
    }

    fn asked(&self, port: u16, ask: Ask) -> Arc<Probe> {
        Arc::new(Probe {
            task: Arc::from(""),
            port,
            ask,
            period: self.period,
            timeout: self.timeout,
            success_threshold: self.success_threshold,
            replicas: Replicas::All,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(probe: Value) -> Result<Option<Readiness>, PodFault> {
        let container = json!({
            "name": "main",
            "ports": [{"name": "web", "containerPort": 8080}],
            "readinessProbe": probe,
        });
        let container: Container = serde_json::from_value(container).unwrap();
        container.readiness(&FieldPath::root())
    }

    #[test]
    fn a_probe_has_the_defaults_of_a_cluster() {
        let found = read(json!({"httpGet": {"port": "web", "path": "healthz"}, "timeoutSeconds": 0}));
        let wanted = Readiness {
            check: Check::Port(
                8080,
                Ask::HttpGet(HttpGet {
                    tls: false,
                    path: "/healthz".into(),
                    headers: Arc::default(),
                }),
            ),
            initial_delay: Span::ZERO,
            period: Span::from_secs(10),
            timeout: Span::from_secs(1),
            success_threshold: 1,
            failure_threshold: 3,
        };
        assert_eq!(found, Ok(Some(wanted)));
        assert_eq!(read(Value::Null), Ok(None));
    }

    #[test]
    fn what_can_not_be_looked_at_is_told() {
        for (probe, path) in [
            (json!({}), "readinessProbe"),
            (json!({"exec": {"command": []}}), "readinessProbe"),
            (
                json!({"exec": {"command": ["a"]}, "tcpSocket": {"port": 1}}),
                "readinessProbe",
            ),
            (json!({"grpc": {"port": 1}}), "readinessProbe.grpc"),
            (json!({"tcpSocket": {"port": 0}}), "readinessProbe.tcpSocket.port"),
            (
                json!({"tcpSocket": {"port": 70000}}),
                "readinessProbe.tcpSocket.port",
            ),
            (
                json!({"tcpSocket": {"port": "other"}}),
                "readinessProbe.tcpSocket.port",
            ),
            (
                json!({"tcpSocket": {"port": 1, "host": "10.0.0.1"}}),
                "readinessProbe.tcpSocket.host",
            ),
            (
                json!({"httpGet": {"port": 1, "scheme": "FTP"}}),
                "readinessProbe.httpGet.scheme",
            ),
        ] {
            let fault = read(probe.clone()).unwrap_err();
            assert_eq!(fault.path.to_string(), path, "{probe}");
        }
    }
}
