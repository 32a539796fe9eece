//! The way to an API server: a client whose requests leave at once.
//!
//! kube's own client leaves Nagle's algorithm on: the rest of a request waits until its beginning is acknowledged, which a
//! server's kernel puts off by up to 40 ms. A create, or the write of a status, would take that long on an idle server.
//! Deliberately absent: where the configuration comes from.

use http::Request;
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::Builder;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kube::client::{Body, ConfigExt};
use kube::{Client, Config};
use tower::{BoxError, ServiceBuilder};

/// A client for this configuration that repeats nothing by itself and whose requests leave at once. Behind a proxy it is
/// kube's own.
///
/// ```no_run
/// # async fn connect() -> Result<kube::Client, Box<dyn std::error::Error>> {
/// let client = jobflow_controller::connect(kube::Config::infer().await?)?;
/// # Ok(client)
/// # }
/// ```
///
/// # Errors
///
/// Certificates or credentials of the configuration can't be used.
pub fn connect(mut config: Config) -> kube::Result<Client> {
    config.default_retry = false;
    if config.proxy_url.is_some() {
        return Client::try_from(config);
    }
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_nodelay(true);
    let mut connector = TimeoutConnector::new(config.rustls_https_connector_with_connector(connector)?);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    connector.set_reset_reader_on_write(config.reset_reader_on_write);
    let server = Builder::new(TokioExecutor::new()).build::<_, Body>(connector);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .map_request(|request: Request<Body>| request)
        .service(server);
    Ok(Client::new(service, config.default_namespace))
}
