//! The command lines of the three programs. Pure: folders, ports and options in, arguments out.

use std::path::Path;

use crate::certificates::Certificates;
use crate::options::Options;
use crate::ports::Ports;

/// What the arguments are made of.
pub(crate) struct Setting<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) ports: Ports,
    pub(crate) certificates: &'a Certificates,
    pub(crate) tokens: &'a Path,
    pub(crate) admin: &'a Path,
    pub(crate) options: &'a Options,
}

/// Data in the folder, nothing synced to the disk.
pub(crate) fn etcd(setting: &Setting<'_>) -> Vec<String> {
    let client = format!("http://127.0.0.1:{}", setting.ports.etcd);
    let peer = format!("http://127.0.0.1:{}", setting.ports.etcd_peer);
    vec![
        "--name=default".to_owned(),
        format!("--data-dir={}", setting.folder.join("etcd").display()),
        "--unsafe-no-fsync".to_owned(),
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=default={peer}"),
        "--quota-backend-bytes=8589934592".to_owned(),
        "--log-level=warn".to_owned(),
    ]
}

/// Compaction only when a test asks for it. No endpoints of its own: it may not write the loopback address there.
pub(crate) fn api_server(setting: &Setting<'_>) -> Vec<String> {
    let file = |flag: &str, path: &Path| format!("--{flag}={}", path.display());
    let mut arguments = vec![
        format!("--etcd-servers=http://127.0.0.1:{}", setting.ports.etcd),
        "--etcd-compaction-interval=0".to_owned(),
        "--bind-address=127.0.0.1".to_owned(),
        "--advertise-address=127.0.0.1".to_owned(),
        "--endpoint-reconciler-type=none".to_owned(),
        format!("--secure-port={}", setting.ports.api_server),
        file("cert-dir", setting.folder),
        file("tls-cert-file", &setting.certificates.certificate),
        file("tls-private-key-file", &setting.certificates.key),
        file(
            "service-account-key-file",
            &setting.certificates.account_public_key,
        ),
        file(
            "service-account-signing-key-file",
            &setting.certificates.account_key,
        ),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        file("token-auth-file", setting.tokens),
        "--authorization-mode=RBAC".to_owned(),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
    ];
    if !setting.options.admission_plugins.is_empty() {
        arguments.push(format!(
            "--enable-admission-plugins={}",
            setting.options.admission_plugins.join(",")
        ));
    }
    arguments
}

/// Only what the tests need: garbage collection, namespaces, service accounts, quotas.
pub(crate) fn controller_manager(setting: &Setting<'_>) -> Vec<String> {
    let controllers = [
        "garbage-collector-controller",
        "namespace-controller",
        "serviceaccount-controller",
        "resourcequota-controller",
    ];
    vec![
        format!("--kubeconfig={}", setting.admin.display()),
        "--leader-elect=false".to_owned(),
        "--secure-port=0".to_owned(),
        format!(
            "--service-account-private-key-file={}",
            setting.certificates.account_key.display()
        ),
        format!("--controllers={}", controllers.join(",")),
        "--kube-api-qps=500".to_owned(),
        "--kube-api-burst=1000".to_owned(),
    ]
}
