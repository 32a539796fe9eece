//! HTTPS on the loopback address, with a certificate that is made for it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::routing::post;
use kube::Client;
use rcgen::CertifiedKey;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::server::TlsStream;

use super::verdict;

type Broken = Box<dyn std::error::Error + Send + Sync>;

/// A server that listens, and doesn't answer yet.
pub(super) struct Server {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    port: u16,
    certificate: String,
}

impl Server {
    pub(super) async fn bind() -> Result<Self, Broken> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)?;
        Ok(Self {
            port: listener.local_addr()?.port(),
            listener,
            acceptor: TlsAcceptor::from(Arc::new(config)),
            certificate: cert.pem(),
        })
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Answers until it is dropped.
    pub(super) async fn run(self, client: Client) {
        let answer = async move |body: axum::body::Bytes| answer(&client, &body).await.to_string();
        let router = Router::new().route("/jobs/validate", post(answer));
        // Serving by axum never ends by itself.
        let _ended = axum::serve(self, router).await;
    }
}

impl axum::serve::Listener for Server {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    /// Whoever doesn't speak TLS is sent away, and the next one is waited for.
    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let Ok((stream, address)) = self.listener.accept().await else {
                continue;
            };
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// An AdmissionReview with the verdict; without a code of its own the API server answers 400, as for Volcano.
async fn answer(client: &Client, body: &[u8]) -> Value {
    let review: Value = serde_json::from_slice(body).unwrap_or_default();
    let refusal = verdict::refusal(client, &review["request"]["object"]).await;
    let uid = &review["request"]["uid"];
    let response = match refusal {
        None => json!({ "uid": uid, "allowed": true }),
        Some(message) => json!({ "uid": uid, "allowed": false, "status": { "message": message } }),
    };
    json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response })
}
