//! Runs of this machine: where they are, and which one is meant.

mod checkpoint;

use std::env;
use std::time::{SystemTime, UNIX_EPOCH};

use jobflow_local::rundir::{Identity, RunDirError, RunEntry, StateRoot};

use crate::failure::Failure;

/// The runs of whoever asks.
#[derive(Debug)]
pub(crate) struct Past {
    /// Where they are.
    pub(crate) root: StateRoot,
    /// Who asks.
    pub(crate) identity: Identity,
    /// All of them, oldest first.
    pub(crate) entries: Vec<RunEntry>,
}

impl Past {
    /// Looks at the state folder that the environment names.
    pub(crate) fn look() -> Result<Self, Failure> {
        let root = state_root()?;
        let identity = Identity::of_this_process();
        let entries = root.list(identity.user).map_err(|error| refused(&error))?;
        Ok(Self {
            root,
            identity,
            entries,
        })
    }

    /// The run that is meant: the newest without a name, else by its name, by the beginning of its name where that is
    /// only one's, or the newest of a flow.
    pub(crate) fn choose(&self, wanted: Option<&str>) -> Result<&RunEntry, Failure> {
        let Some(wanted) = wanted else {
            let newest = self.entries.last();
            return newest.ok_or_else(|| {
                Failure::wrong_input("there are no runs on this machine")
                    .with_help("`jobflow run FILE` makes one")
            });
        };
        let by_name = |entry: &&RunEntry| entry.record.id.as_str().starts_with(wanted);
        let named: Vec<&RunEntry> = self.entries.iter().filter(by_name).collect();
        let exact = named.iter().find(|entry| entry.record.id.as_str() == wanted);
        match (exact, named.as_slice()) {
            (Some(entry), _) | (None, [entry]) => return Ok(entry),
            (None, []) => {}
            (None, several) => return Err(ambiguous(wanted, several)),
        }
        let of_flow = self
            .entries
            .iter()
            .rev()
            .find(|entry| entry.record.flow == wanted);
        of_flow.ok_or_else(|| {
            Failure::wrong_input(format!("there is no run `{wanted}` on this machine"))
                .with_help("`jobflow runs list` shows those that are there")
        })
    }
}

fn ambiguous(wanted: &str, runs: &[&RunEntry]) -> Failure {
    let names: Vec<&str> = runs.iter().map(|entry| entry.record.id.as_str()).collect();
    Failure::wrong_input(format!("several runs begin with `{wanted}`")).with_help(names.join(", "))
}

/// The state folder that the environment names.
pub(crate) fn state_root() -> Result<StateRoot, Failure> {
    let [state, xdg, home] = ["JOBFLOW_STATE_DIR", "XDG_STATE_HOME", "HOME"].map(env::var_os);
    StateRoot::find(state, xdg, home).map_err(|error| refused(&error))
}

/// Now, in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The failure of using a run's folder.
pub(crate) fn refused(error: &RunDirError) -> Failure {
    let failure = Failure::could_not_run("cannot use the runs of this machine").because(error);
    match help(error) {
        Some(help) => failure.with_help(help),
        None => failure,
    }
}

/// What to do about it, where the cause doesn't say so itself.
fn help(error: &RunDirError) -> Option<String> {
    match error {
        RunDirError::InUse(id) => Some(format!("see how it stands with: jobflow status {id}")),
        RunDirError::OtherUser { .. } | RunDirError::ReadOnly(_) | RunDirError::System { .. } => {
            Some("another folder for runs can be named with JOBFLOW_STATE_DIR".to_owned())
        }
        // The others say all there is, and so do those that a later version adds.
        RunDirError::Missing(_)
        | RunDirError::Exists(_)
        | RunDirError::OtherHost { .. }
        | RunDirError::NotPrivate { .. }
        | RunDirError::Foreign { .. }
        | RunDirError::NoPlace
        | _ => None,
    }
}

#[cfg(test)]
mod tests {
    use jobflow_local::rundir::{RunId, RunRecord};

    use super::*;

    fn past() -> Past {
        let identity = Identity {
            user: 1,
            host: "here".to_owned(),
        };
        let entry = |(flow, created): (&str, i64)| RunEntry {
            record: RunRecord {
                id: RunId::new(flow, created, "x").unwrap(),
                flow: flow.to_owned(),
                created,
                identity: identity.clone(),
            },
            in_use: false,
        };
        Past {
            root: StateRoot::at("/none".into()),
            entries: [("etl", 1000), ("zoo", 2000), ("etl", 3000)].map(entry).to_vec(),
            identity,
        }
    }

    fn chosen(wanted: Option<&str>) -> Option<String> {
        past()
            .choose(wanted)
            .ok()
            .map(|entry| entry.record.id.to_string())
    }

    #[test]
    fn a_run_is_chosen_by_its_name_its_beginning_or_its_flow() {
        for (wanted, name) in [
            (None, Some("19700101T000003Z-etl-x")),
            (Some("19700101T000001Z-etl-x"), Some("19700101T000001Z-etl-x")),
            (Some("19700101T000002"), Some("19700101T000002Z-zoo-x")),
            (Some("etl"), Some("19700101T000003Z-etl-x")),
            (Some("1970"), None),
            (Some("none"), None),
        ] {
            assert_eq!(chosen(wanted).as_deref(), name, "{wanted:?}");
        }
    }
}
