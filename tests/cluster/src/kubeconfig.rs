//! A kubeconfig a user, as JSON, which every client reads as the YAML that it is too.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::certificates::Certificates;
use crate::fault::Fault;
use crate::users::{Tokens, User};

/// Where a user's kubeconfig is, in the folder of a control plane.
pub(crate) fn path(folder: &Path, user: User) -> PathBuf {
    folder.join(format!("{}.kubeconfig", user.file_name()))
}

/// Writes one for each user.
pub(crate) fn write(
    folder: &Path,
    url: &str,
    certificates: &Certificates,
    tokens: &Tokens,
) -> Result<(), Fault> {
    for user in User::ALL {
        let path = path(folder, user);
        fs::write(&path, text(user, url, certificates, tokens)).map_err(Fault::file(&path))?;
    }
    Ok(())
}

fn text(user: User, url: &str, certificates: &Certificates, tokens: &Tokens) -> String {
    let name = user.name();
    let cluster = json!({ "server": url, "certificate-authority": certificates.authority });
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": "jobflow-test", "cluster": cluster }],
        "users": [{ "name": name, "user": { "token": tokens.of(user) } }],
        "contexts": [{ "name": name, "context": { "cluster": "jobflow-test", "user": name } }],
        "current-context": name,
    });
    format!("{config:#}\n")
}
