//! The gang machine against recordings of a real Volcano: every status that Volcano wrote to a Job must be what the
//! machine writes, in that order, and every pod that Volcano made or stopped must be one that the machine names.
//!
//! What is compared of each status: phase, minAvailable, the six counts, taskStatusCount, version, retryCount, and the
//! phases in `conditions`; of each pod: that it was asked for under the version and retry count in its annotations,
//! and that exactly the pods marked out-of-sync were stopped. Times and `controlledResources` aren't.
//!
//! What is left open, and why:
//! - Volcano reads pods and PodGroups from two caches, each late by an amount that no recording shows. So for each
//!   status there must be *some* pair of moments, not before those of the status before it and not after its own line,
//!   at which the machine writes exactly that status from what was to be seen then.
//! - Volcano rewrites an end, one version up and otherwise the same, for every update that still comes in. The first
//!   rewrite has to be reproduced; further ones that differ in nothing but the version are left out.

#![expect(clippy::unwrap_used, reason = "tests may unwrap")]

#[path = "gang_traces/drive.rs"]
mod drive;
#[path = "gang_traces/manifest.rs"]
mod manifest;
#[path = "gang_traces/recording.rs"]
mod recording;
#[path = "gang_traces/written.rs"]
mod written;

use std::collections::BTreeSet;
use std::path::PathBuf;

use recording::Recording;

/// How many statuses of each recording are reproduced; a recording that isn't listed here fails the test.
const RECORDINGS: &[(&str, usize)] = &[
    ("command-abort-pending", 5),
    ("command-abort-then-resume", 13),
    ("command-terminate", 7),
    ("complete-when-worker-done", 8),
    ("fail-one-of-two-min1", 8),
    ("fail-plain", 6),
    ("job-deleted-foreground", 4),
    ("job-deleted-running", 4),
    ("min-success", 8),
    ("ok-one", 6),
    ("ok-two-tasks", 10),
    ("pod-deleted-evicted-restart", 10),
    ("pod-deleted-no-policy", 9),
    ("policy-abort", 7),
    ("policy-exit-code", 7),
    ("policy-terminate", 7),
    ("queue-missing", 4),
    ("restart-job-then-failed", 10),
    ("restart-task-then-failed", 14),
    ("still-running", 4),
    ("svc-env-plugins", 9),
    ("task-depends-on", 8),
    ("ttl", 6),
    ("unschedulable", 2),
];

#[test]
fn every_recorded_status_is_what_the_machine_writes() {
    let faults: Vec<String> = RECORDINGS
        .iter()
        .filter_map(|(name, count)| check(name, *count).err())
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_recording_is_left_out() {
    let listed: BTreeSet<String> = RECORDINGS
        .iter()
        .map(|(name, _)| format!("{name}.jsonl"))
        .collect();
    let files = std::fs::read_dir(directory())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap());
    let found: BTreeSet<String> = files.filter(|file| file.ends_with(".jsonl")).collect();
    assert_eq!(found, listed);
}

fn check(name: &str, count: usize) -> Result<(), String> {
    let text = std::fs::read_to_string(directory().join(format!("{name}.jsonl"))).unwrap();
    let recording = Recording::read(&text);
    let statuses = recording.statuses();
    if statuses.len() != count {
        return Err(format!(
            "{name}: {} statuses are recorded, {count} are listed",
            statuses.len()
        ));
    }
    drive::drive(&recording, &statuses).map_err(|fault| format!("{name}: {fault}"))
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/traces")
}
