//! TLS without a look at the certificate: a probe asks whether a pod answers, not who it is, and sends no secret.

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

static CONFIG: OnceLock<Option<Arc<ClientConfig>>> = OnceLock::new();

/// Agrees on TLS with whoever is at the other end.
pub(super) async fn connect(stream: TcpStream, address: IpAddr) -> io::Result<TlsStream<TcpStream>> {
    let config = CONFIG.get_or_init(config).clone();
    let config = config.ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))?;
    let name = ServerName::IpAddress(address.into());
    TlsConnector::from(config).connect(name, stream).await
}

fn config() -> Option<Arc<ClientConfig>> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Arc::new(Anyone(Arc::clone(&provider)));
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .ok()?;
    let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
    Some(Arc::new(builder.with_no_client_auth()))
}

/// Takes every certificate.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
