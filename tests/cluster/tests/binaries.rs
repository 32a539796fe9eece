//! How the programs come into the cache, with a `go` of the tests' own: each builder is a process of its own, since the
//! search path is the environment's.

#![expect(clippy::unwrap_used, reason = "tests may unwrap")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use jobflow_test_cluster::Binaries;

/// Builds what it is told to, slowly, and notes that it was called.
const GO_THAT_BUILDS: &str = r#"#!/bin/sh
shift 3
[ "$1" = -o ] || exit 3
out=$2; shift 2
echo called >>"$HOME/calls"
sleep 0.3
for package in "$@"; do
    name=${package##*/}
    case $name in v3) name=server ;; esac
    echo "$package" >"$out$name"
done
"#;

/// Gets no further than its first program.
const GO_THAT_BREAKS_OFF: &str = r#"#!/bin/sh
echo half >"${5}kube-apiserver"
echo 'no space left on device' >&2
exit 1
"#;

/// Run by the tests below in processes of their own.
#[test]
#[ignore = "its environment is set by other tests"]
fn a_builder() {
    let binaries = Binaries::ready()
        .map_err(|fault| println!("\nfault: {fault}"))
        .unwrap();
    for path in [binaries.etcd(), binaries.kube_apiserver(), binaries.kubectl()] {
        println!("\nbuilt: {}", fs::read_to_string(path).unwrap());
    }
}

struct Machine {
    home: tempfile::TempDir,
}

impl Machine {
    fn new(go: Option<&str>) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("bin")).unwrap();
        for tool in ["sh", "sleep"] {
            std::os::unix::fs::symlink(Path::new("/bin").join(tool), home.path().join("bin").join(tool))
                .unwrap();
        }
        let machine = Self { home };
        go.into_iter().for_each(|text| machine.install(text));
        machine
    }

    fn install(&self, go: &str) {
        // Another process makes the program: a child that another test forks meanwhile would hold the file open for
        // writing, and it could not be executed.
        let (text, path) = (self.home.path().join("go.text"), self.home.path().join("bin/go"));
        fs::write(&text, go).unwrap();
        let installed = Command::new("install")
            .args(["-m", "755"])
            .args([text, path])
            .status();
        assert!(installed.unwrap().success());
    }

    fn start(&self) -> Child {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_builder", "--ignored", "--nocapture"])
            .env("PATH", self.home.path().join("bin"))
            .env("HOME", self.home.path())
            .env_remove("XDG_CACHE_HOME")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// What a builder says, and whether it succeeded.
    fn build(&self) -> (bool, String) {
        said(self.start())
    }

    fn cache(&self) -> PathBuf {
        self.home.path().join(".cache/jobflow")
    }

    fn calls(&self) -> usize {
        fs::read_to_string(self.home.path().join("calls"))
            .unwrap()
            .lines()
            .count()
    }
}

fn said(builder: Child) -> (bool, String) {
    let output = builder.wait_with_output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn without_go_the_fault_says_what_to_install() {
    let (succeeded, text) = Machine::new(None).build();
    assert!(!succeeded);
    assert!(text.contains("fault: `go` can't be run"), "{text}");
    assert!(text.contains("install Go 1.26 or later"), "{text}");
}

#[test]
fn two_builders_at_once_build_once_and_both_succeed() {
    let machine = Machine::new(Some(GO_THAT_BUILDS));
    let builders = [machine.start(), machine.start()];
    for builder in builders {
        let (succeeded, text) = said(builder);
        assert!(succeeded, "{text}");
        assert!(text.contains("built: go.etcd.io/etcd/server/v3"), "{text}");
        assert!(
            text.contains("built: k8s.io/kubernetes/cmd/kube-apiserver"),
            "{text}"
        );
    }
    assert_eq!(machine.calls(), 2, "a call a module");
}

#[test]
fn a_build_that_broke_off_leaves_nothing_that_looks_finished() {
    let machine = Machine::new(Some(GO_THAT_BREAKS_OFF));
    fs::create_dir_all(machine.cache().join("etcd-3.6.16")).unwrap();
    fs::write(machine.cache().join("etcd-3.6.16/etcd"), "there").unwrap();
    let (succeeded, text) = machine.build();
    assert!(!succeeded);
    assert!(text.contains("`go build` of kubernetes-1.36.1"), "{text}");
    assert!(text.contains("no space left on device"), "{text}");
    assert!(!fs::exists(machine.cache().join("kubernetes-1.36.1")).unwrap());
    machine.install(GO_THAT_BUILDS);
    let (succeeded, text) = machine.build();
    assert!(succeeded, "{text}");
    assert!(
        text.contains("built: k8s.io/kubernetes/cmd/kube-apiserver"),
        "{text}"
    );
    assert_eq!(machine.calls(), 1, "what was there isn't built again");
}
