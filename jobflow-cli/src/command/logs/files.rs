//! Which files of a run hold the output that is asked for.
//!
//! ```text
//! logs/NODE-INSTANCE-ATTEMPT.TASK-REPLICA-INCARNATION/CONTAINER.RUN.log      NODE is a number, the entry's position
//! ```

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use cap_std::fs::Dir;

use crate::failure::Failure;

const LOGS: &str = "logs";

/// Whose output is asked for: `NODE[/TASK[/INDEX]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Selector {
    /// The entry.
    pub(super) node: String,
    task: Option<String>,
    index: Option<u32>,
}

/// One run of one container.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LogFile {
    attempt: u32,
    task: String,
    index: u32,
    incarnation: u32,
    container: String,
    run: u32,
    /// Where it is, below the run's folder.
    pub(super) path: PathBuf,
    /// What its lines are told apart by.
    pub(super) label: String,
}

impl Selector {
    /// All that an entry wrote.
    pub(super) fn entry(name: &str) -> Self {
        Self {
            node: name.to_owned(),
            task: None,
            index: None,
        }
    }
}

impl FromStr for Selector {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Failure> {
        let bad = || {
            Failure::wrong_input(format!("`{text}` names no entry, task or replica"))
                .with_help("write ENTRY, ENTRY/TASK or ENTRY/TASK/INDEX")
        };
        let mut parts = text.split('/');
        let node = parts.next().filter(|node| !node.is_empty()).ok_or_else(bad)?;
        let task = parts.next().map(str::to_owned);
        let index = parts
            .next()
            .map(|index| index.parse().map_err(|_| bad()))
            .transpose()?;
        match parts.next() {
            Some(_) => Err(bad()),
            None => Ok(Self {
                node: node.to_owned(),
                task,
                index,
            }),
        }
    }
}

/// The logs of a node with a number that are there, in the order of their beginnings.
pub(super) fn find(folder: &Dir, selector: &Selector, node: usize) -> io::Result<Vec<LogFile>> {
    let pods = match folder.read_dir(LOGS) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut files = Vec::new();
    for pod in pods {
        let Ok(name) = pod?.file_name().into_string() else {
            continue;
        };
        let Some(pod) = Pod::parse(&name).filter(|pod| pod.node == node && pod.is_meant(selector)) else {
            continue;
        };
        let path = Path::new(LOGS).join(&name);
        // A link in the place of the folder leads nowhere: only what is below the run's folder is opened.
        for container in folder.read_dir(&path)? {
            let Ok(name) = container?.file_name().into_string() else {
                continue;
            };
            files.extend(pod.file(&path, &name, &selector.node));
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Of the logs of an entry, in their order, those of one attempt; a container that ran again has its newest only.
pub(super) fn newest(files: Vec<LogFile>, attempt: u32) -> Vec<LogFile> {
    let mut newest = BTreeMap::new();
    for file in files.into_iter().filter(|file| file.attempt == attempt) {
        newest.insert((file.task.clone(), file.index, file.container.clone()), file);
    }
    newest.into_values().collect()
}

/// What the name of a pod's folder says.
struct Pod {
    node: usize,
    attempt: u32,
    task: String,
    index: u32,
    incarnation: u32,
}

impl Pod {
    fn parse(name: &str) -> Option<Self> {
        let (job, pod) = name.split_once('.')?;
        let mut numbers = job.split('-');
        let node = numbers.next()?.parse().ok()?;
        let _instance: u32 = numbers.next()?.parse().ok()?;
        let attempt = numbers.next()?.parse().ok()?;
        let mut parts = pod.rsplitn(3, '-');
        let incarnation = parts.next()?.parse().ok()?;
        let index = parts.next()?.parse().ok()?;
        let task = parts.next()?.to_owned();
        numbers.next().is_none().then_some(Self {
            node,
            attempt,
            task,
            index,
            incarnation,
        })
    }

    fn is_meant(&self, selector: &Selector) -> bool {
        selector.task.as_ref().is_none_or(|task| *task == self.task)
            && selector.index.is_none_or(|index| index == self.index)
    }

    fn file(&self, folder: &Path, name: &str, node: &str) -> Option<LogFile> {
        let (container, run) = name.strip_suffix(".log")?.rsplit_once('.')?;
        let run: u32 = run.parse().ok()?;
        let Self {
            node: _,
            attempt,
            task,
            index,
            incarnation,
        } = self;
        let again = match (*attempt, incarnation.saturating_add(run)) {
            (0 | 1, 0) => String::new(),
            (attempt, 0) => format!(" attempt {attempt}"),
            (attempt, restart) => format!(" attempt {attempt}, restart {restart}"),
        };
        Some(LogFile {
            attempt: *attempt,
            task: task.clone(),
            index: *index,
            incarnation: *incarnation,
            container: container.to_owned(),
            run,
            path: folder.join(name),
            label: format!("{node}/{task}/{index} {container}{again}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use cap_std::ambient_authority;

    use super::*;

    fn selector(text: &str) -> Selector {
        text.parse().unwrap()
    }

    #[test]
    fn an_entry_a_task_or_a_replica_is_named() {
        assert_eq!(selector("a").task, None);
        assert_eq!(selector("a/b").index, None);
        assert_eq!(selector("a/b/3").index, Some(3));
        for bad in ["", "/b", "a/b/c", "a/b/3/d", "a/b/-1"] {
            assert!(bad.parse::<Selector>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_logs_that_are_meant_are_found_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for file in [
            "2-0-2.big-worker-0-0/main.0.log",
            "2-0-1.big-worker-1-0/main.0.log",
            "2-0-1.big-worker-0-1/main.0.log",
            "2-0-1.ps-0-0/main.1.log",
            "2-0-1.ps-0-0/main.1.log.tail",
            "1-0-1.ps-0-0/main.0.log",
            "notes/main.0.log",
        ] {
            let path = folder.path().join(LOGS).join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        let labels = |text: &str| -> Vec<String> {
            let found = find(&dir, &selector(text), 2).unwrap();
            found.into_iter().map(|file| file.label).collect()
        };
        assert_eq!(
            labels("n"),
            [
                "n/big-worker/0 main attempt 1, restart 1",
                "n/big-worker/1 main",
                "n/ps/0 main attempt 1, restart 1",
                "n/big-worker/0 main attempt 2",
            ]
        );
        assert_eq!(labels("n/big-worker/1"), ["n/big-worker/1 main"]);
        assert_eq!(labels("n/none"), [""; 0]);
        let of_attempt = |attempt| -> Vec<String> {
            let found = find(&dir, &selector("n"), 2).unwrap();
            newest(found, attempt)
                .into_iter()
                .map(|file| file.label)
                .collect()
        };
        assert_eq!(of_attempt(1).len(), 3);
        assert_eq!(of_attempt(2), ["n/big-worker/0 main attempt 2"]);
        assert_eq!(of_attempt(3), [""; 0]);
    }

    #[test]
    fn a_link_in_the_place_of_a_folder_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("main.0.log"), "secret").unwrap();
        std::fs::create_dir(folder.path().join(LOGS)).unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.path().join("logs/2-0-1.a-0-0")).unwrap();
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        assert!(find(&dir, &selector("n"), 2).is_err());
    }
}
