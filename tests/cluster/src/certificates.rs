//! The certificate of the API server, who signed it, and the keys of service accounts: made anew for each control plane.

use std::fs;
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use crate::fault::Fault;

/// Files in the folder of a control plane, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Certificates {
    /// Who signed the API server's certificate.
    pub(crate) authority: PathBuf,
    /// The API server's certificate.
    pub(crate) certificate: PathBuf,
    /// Its key.
    pub(crate) key: PathBuf,
    /// What tokens of service accounts are signed with.
    pub(crate) account_key: PathBuf,
    /// What they are checked with.
    pub(crate) account_public_key: PathBuf,
}

impl Certificates {
    /// Makes them, below `folder`, for the loopback address.
    pub(crate) fn make(folder: &Path) -> Result<Self, Fault> {
        let write = |name: &str, text: String| {
            let path = folder.join(name);
            fs::write(&path, text).map_err(Fault::file(&path)).map(|()| path)
        };
        let authority_key = KeyPair::generate()?;
        let authority = authority()?;
        let authority_pem = authority.self_signed(&authority_key)?.pem();
        let key = KeyPair::generate()?;
        let server =
            CertificateParams::new(["127.0.0.1", "localhost", "kubernetes.default.svc"].map(str::to_owned))?;
        let server = server.signed_by(&key, &Issuer::new(authority, authority_key))?;
        let account_key = KeyPair::generate()?;
        Ok(Self {
            authority: write("ca.crt", authority_pem)?,
            certificate: write("apiserver.crt", server.pem())?,
            key: write("apiserver.key", key.serialize_pem())?,
            account_key: write("service-accounts.key", account_key.serialize_pem())?,
            account_public_key: write("service-accounts.pub", account_key.public_key_pem())?,
        })
    }
}

fn authority() -> Result<CertificateParams, rcgen::Error> {
    let mut parameters = CertificateParams::new(Vec::new())?;
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters
        .distinguished_name
        .push(DnType::CommonName, "jobflow-test-cluster");
    Ok(parameters)
}
