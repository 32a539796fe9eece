//! The Go modules: what is built from which, and under which name it is kept.

use std::path::PathBuf;

/// The version of Kubernetes; `kubernetes/go.mod` says the same.
pub const KUBERNETES_VERSION: &str = "1.36.1";
/// The version of etcd; `etcd/go.mod` says the same.
pub const ETCD_VERSION: &str = "3.6.16";
/// The version of Helm; `helm/go.mod` says the same.
pub const HELM_VERSION: &str = "4.3.2";

/// A Go module whose programs are built together.
#[derive(Debug)]
pub(super) struct Module {
    /// The folder of its `go.mod`, beside this crate's manifest.
    pub(super) folder: &'static str,
    pub(super) version: &'static str,
    /// Package and name of each program.
    pub(super) programs: &'static [(&'static str, &'static str)],
    /// Passed to the linker.
    pub(super) linker_flags: &'static str,
}

/// Without a version linked in, clients can't read what the API server says of itself.
pub(super) const KUBERNETES: Module = Module {
    folder: "kubernetes",
    version: KUBERNETES_VERSION,
    programs: &[
        ("k8s.io/kubernetes/cmd/kube-apiserver", "kube-apiserver"),
        (
            "k8s.io/kubernetes/cmd/kube-controller-manager",
            "kube-controller-manager",
        ),
        ("k8s.io/kubernetes/cmd/kubectl", "kubectl"),
    ],
    linker_flags: "-s -w -X k8s.io/component-base/version.gitVersion=v1.36.1 \
        -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36",
};

pub(super) const ETCD: Module = Module {
    folder: "etcd",
    version: ETCD_VERSION,
    programs: &[("go.etcd.io/etcd/server/v3", "etcd")],
    linker_flags: "-s -w",
};

pub(super) const HELM: Module = Module {
    folder: "helm",
    version: HELM_VERSION,
    programs: &[("helm.sh/helm/v4/cmd/helm", "helm")],
    linker_flags: "-s -w",
};

impl Module {
    /// The name of its programs' folder in the cache.
    pub(super) fn key(&self) -> String {
        format!("{}-{}", self.folder, self.version)
    }

    /// Where its `go.mod` is.
    pub(super) fn source(&self) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(self.folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requires(module: &Module, line: &str) {
        let text = std::fs::read_to_string(module.source().join("go.mod")).unwrap();
        assert!(text.contains(line), "{} lacks `{line}`", module.folder);
    }

    #[test]
    fn the_modules_pin_the_versions_that_are_named_here() {
        requires(&KUBERNETES, &format!("k8s.io/kubernetes v{KUBERNETES_VERSION}"));
        requires(&ETCD, &format!("go.etcd.io/etcd/server/v3 v{ETCD_VERSION}"));
        requires(&HELM, &format!("helm.sh/helm/v4 v{HELM_VERSION}"));
        assert!(
            KUBERNETES
                .linker_flags
                .contains(&format!("gitVersion=v{KUBERNETES_VERSION} "))
        );
    }

    #[test]
    fn every_program_is_a_tool_of_its_module() {
        for module in [&KUBERNETES, &ETCD, &HELM] {
            module
                .programs
                .iter()
                .for_each(|(package, _)| requires(module, package));
        }
    }
}
