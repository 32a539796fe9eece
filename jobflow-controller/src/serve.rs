//! Health and metrics over HTTP: three pages, each made when it is asked for.
//!
//! Comes in: GET. Goes out: a few lines of text. A connection lives for seconds, and only so many do at once: one that
//! is slow, or idle, holds up nobody for long. Deliberately absent: names of flows, anything that changes something,
//! and TLS: both addresses are for the cluster's own probes and scrapers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

mod connection;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
pub(crate) use connection::ShortLived;
use tokio::net::TcpListener;

use crate::clock::Clock;
use crate::escape;
use crate::health::Health;
use crate::metrics::{self, Metrics};

/// What the pages are made of.
#[derive(Clone)]
pub(crate) struct Pages {
    pub(crate) health: Arc<Health>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// `/livez` and `/readyz`.
pub(crate) fn health(pages: Pages) -> Router {
    Router::new()
        .route("/livez", get(live))
        .route("/healthz", get(live))
        .route("/readyz", get(ready))
        .with_state(pages)
}

/// `/metrics`.
pub(crate) fn metrics(pages: Pages) -> Router {
    Router::new().route("/metrics", get(numbers)).with_state(pages)
}

/// Listens; an address that is taken is told at start. On a system without IPv6 `[::]` means what it means there.
pub(crate) async fn listen(address: SocketAddr) -> std::io::Result<ShortLived> {
    let listener = match TcpListener::bind(address).await {
        Err(_) if address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED) && !has_ipv6() => {
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, address.port())).await
        }
        result => result,
    };
    listener.map(ShortLived::new)
}

fn has_ipv6() -> bool {
    std::net::UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).is_ok()
}

async fn live(State(pages): State<Pages>) -> Response {
    verdict(&pages.health.dead(pages.clock.now()), &[])
}

async fn ready(State(pages): State<Pages>) -> Response {
    verdict(&pages.health.unready(pages.clock.now()), &pages.health.warnings())
}

async fn numbers(State(pages): State<Pages>) -> Response {
    (
        [(header::CONTENT_TYPE, metrics::CONTENT_TYPE)],
        pages.metrics.text(),
    )
        .into_response()
}

fn verdict(against: &[String], warnings: &[String]) -> Response {
    let (code, word) = match against.is_empty() {
        true => (StatusCode::OK, "ok"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "not ok"),
    };
    let lines = std::iter::once(word.to_owned())
        .chain(against.iter().map(|line| escape::text(line)))
        .chain(
            warnings
                .iter()
                .map(|line| format!("warning: {}", escape::text(line))),
        );
    let body: String = lines.map(|line| line + "\n").collect();
    (code, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], body).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::http::Request;
    use tower::ServiceExt;

    use super::*;
    use crate::clock::SystemClock;
    use crate::findings::Check;

    async fn page(router: Router, path: &str) -> (StatusCode, String, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        let code = response.status();
        let kind = response.headers()[header::CONTENT_TYPE]
            .to_str()
            .unwrap()
            .to_owned();
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (code, kind, String::from_utf8(body.to_vec()).unwrap())
    }

    fn pages() -> Pages {
        Pages {
            health: Arc::default(),
            metrics: Arc::new(Metrics::new()),
            clock: Arc::new(SystemClock),
        }
    }

    #[tokio::test]
    async fn readiness_is_a_code_and_its_reasons() {
        let pages = pages();
        pages.health.checked();
        pages
            .health
            .found(Check::AnotherController, vec!["vc\u{1b}-controller".to_owned()]);
        let (code, _, body) = page(health(pages.clone()), "/readyz").await;
        assert_eq!(code, StatusCode::OK);
        assert_eq!(body, "ok\nwarning: AnotherController: vc\\u{1b}-controller\n");
        pages
            .health
            .found(Check::NotPermitted, vec!["create jobs".to_owned()]);
        let (code, _, body) = page(health(pages.clone()), "/readyz").await;
        assert_eq!(code, StatusCode::SERVICE_UNAVAILABLE);
        assert!(body.starts_with("not ok\nNotPermitted: create jobs\n"), "{body}");
        assert_eq!(page(health(pages), "/livez").await.0, StatusCode::OK);
    }

    #[tokio::test]
    async fn metrics_are_openmetrics() {
        let (code, kind, body) = page(metrics(pages()), "/metrics").await;
        assert_eq!((code, kind.as_str()), (StatusCode::OK, metrics::CONTENT_TYPE));
        assert!(body.ends_with("# EOF\n"));
    }
}
