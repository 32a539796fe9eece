//! Where runs are kept, which there are, and which may go.

use std::{
    ffi::OsString,
    fs::{self, File},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::PathBuf,
};

use super::{Identity, LOCK, RunDir, RunDirError, RunId, RunRecord, check_private, read_record, system};
use crate::executor;

/// The folder that holds all runs of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateRoot(PathBuf);

/// One run that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEntry {
    /// Whose it is.
    pub record: RunRecord,
    /// Whether a `jobflow` decides for it, or its executor lives.
    pub in_use: bool,
}

/// Which runs may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrunePolicy {
    /// The newest so many stay.
    pub keep: usize,
    /// Only runs that began before this time go, in milliseconds since 1970.
    pub before: Option<i64>,
}

impl StateRoot {
    /// Takes any folder.
    pub fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// Finds the folder from the values of `JOBFLOW_STATE_DIR`, `XDG_STATE_HOME` and `HOME`; empty ones don't count.
    ///
    /// # Errors
    ///
    /// When none is set.
    pub fn find(
        state: Option<OsString>,
        xdg: Option<OsString>,
        home: Option<OsString>,
    ) -> Result<Self, RunDirError> {
        let set = |value: Option<OsString>| value.filter(|text| !text.is_empty()).map(PathBuf::from);
        let xdg = || set(xdg).map(|path| path.join("jobflow"));
        let home = || set(home).map(|path| path.join(".local/state/jobflow"));
        set(state)
            .or_else(xdg)
            .or_else(home)
            .map(Self)
            .ok_or(RunDirError::NoPlace)
    }

    /// Makes the folder of a new run, and locks it.
    ///
    /// # Errors
    ///
    /// When it exists, can't be made, or would be in a folder of another user.
    pub fn create(&self, record: RunRecord, token: &str) -> Result<RunDir, RunDirError> {
        let runs = self.runs();
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&runs)
            .map_err(system(&runs))?;
        self.check_owner(record.identity.user)?;
        RunDir::create(self.path(&record.id), record, token)
    }

    /// Opens and locks the folder of a run that is to go on.
    ///
    /// # Errors
    ///
    /// When it is missing, in use, read-only, or belongs to another user or host.
    pub fn open(&self, id: &RunId, identity: &Identity) -> Result<RunDir, RunDirError> {
        self.check_owner(identity.user)?;
        RunDir::open(self.path(id), id, identity)
    }

    /// Lists the user's runs, oldest first; what isn't a run is left out.
    ///
    /// # Errors
    ///
    /// When the folder can't be read, or belongs to another user.
    pub fn list(&self, user: u32) -> Result<Vec<RunEntry>, RunDirError> {
        let runs = self.runs();
        let entries = match fs::read_dir(&runs) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(system(&runs))?,
        };
        self.check_owner(user)?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut ids: Vec<RunId> = names.filter_map(|name| RunId::parse(&name).ok()).collect();
        ids.sort_unstable();
        Ok(ids.iter().filter_map(|id| self.entry(id, user)).collect())
    }

    fn entry(&self, id: &RunId, user: u32) -> Option<RunEntry> {
        let path = self.path(id);
        check_private(&path, id, user).ok()?;
        let record = read_record(&path).ok()?;
        let decided_for = File::open(path.join(LOCK)).is_ok_and(|file| file.try_lock_shared().is_err());
        let in_use = decided_for || executor::is_alive(&path).unwrap_or(true);
        Some(RunEntry { record, in_use })
    }

    /// Removes a run that nobody uses, with everything in it. Links in it are removed, not followed.
    ///
    /// # Errors
    ///
    /// When it is in use, or belongs to another user or host.
    pub fn remove(&self, id: &RunId, identity: &Identity) -> Result<(), RunDirError> {
        let run = self.open(id, identity)?;
        if executor::is_alive(run.path()).map_err(system(run.path()))? {
            return Err(RunDirError::InUse(id.clone()));
        }
        fs::remove_dir_all(run.path()).map_err(system(run.path()))
    }

    /// Returns where a run's folder is, or would be.
    pub fn path(&self, id: &RunId) -> PathBuf {
        self.runs().join(id.as_str())
    }

    /// Whoever owns the folder of the runs, or the one around it, could put other folders in their places.
    fn check_owner(&self, user: u32) -> Result<(), RunDirError> {
        let runs = self.runs();
        for (path, trusted) in [(&self.0, [user, 0]), (&runs, [user, user])] {
            let owner = match fs::metadata(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                other => other.map_err(system(path))?.uid(),
            };
            if !trusted.contains(&owner) {
                let path = path.clone();
                return Err(RunDirError::OtherUser { path, owner, user });
            }
        }
        Ok(())
    }

    fn runs(&self) -> PathBuf {
        self.0.join("runs")
    }
}

/// Chooses the runs that may go, of a list that is sorted oldest first.
pub fn prunable(entries: &[RunEntry], policy: PrunePolicy) -> Vec<RunId> {
    let PrunePolicy { keep, before } = policy;
    let old = entries.iter().rev().skip(keep).filter(|entry| !entry.in_use);
    let early = old.filter(|entry| before.is_none_or(|time| entry.record.created < time));
    let mut ids: Vec<RunId> = early.map(|entry| entry.record.id.clone()).collect();
    ids.reverse();
    ids
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn identity() -> Identity {
        Identity {
            user: nix::unistd::geteuid().as_raw(),
            host: "here".into(),
        }
    }

    fn record(name: &str, created: i64) -> RunRecord {
        let id = RunId::new(name, created, "x").unwrap();
        RunRecord {
            id,
            flow: name.into(),
            created,
            identity: identity(),
        }
    }

    fn root() -> (tempfile::TempDir, StateRoot) {
        let folder = tempfile::tempdir().unwrap();
        let root = StateRoot::at(folder.path().join("state"));
        (folder, root)
    }

    #[test]
    fn the_first_variable_that_is_set_says_where() {
        let find = |values: [&str; 3]| {
            let [state, xdg, home] = values.map(|value| (value != "-").then(|| value.into()));
            StateRoot::find(state, xdg, home).map(|root| root.0)
        };
        assert_eq!(find(["/a", "/b", "/c"]).unwrap(), PathBuf::from("/a"));
        assert_eq!(find(["", "/b", "/c"]).unwrap(), PathBuf::from("/b/jobflow"));
        assert_eq!(
            find(["-", "-", "/c"]).unwrap(),
            PathBuf::from("/c/.local/state/jobflow")
        );
        assert!(matches!(find(["-", "", "-"]), Err(RunDirError::NoPlace)));
    }

    #[test]
    fn a_run_is_private_and_has_one_owner_at_a_time() {
        let (_folder, root) = root();
        let record = record("etl", 5000);
        let run = root.create(record.clone(), "token").unwrap();
        assert_eq!(
            fs::metadata(run.path()).unwrap().permissions().mode() & 0o777,
            0o700
        );
        assert!(matches!(
            root.create(record.clone(), "token"),
            Err(RunDirError::Exists(_))
        ));
        assert!(matches!(
            root.open(&record.id, &identity()),
            Err(RunDirError::InUse(_))
        ));
        assert!(root.list(identity().user).unwrap()[0].in_use);
        drop(run);
        assert_eq!(root.open(&record.id, &identity()).unwrap().record(), &record);
        root.remove(&record.id, &identity()).unwrap();
        assert!(matches!(
            root.open(&record.id, &identity()),
            Err(RunDirError::Missing(_))
        ));
    }

    #[test]
    fn a_folder_of_somebody_else_is_refused() {
        let (_folder, root) = root();
        let record = record("etl", 5000);
        let path = root.create(record.clone(), "token").unwrap().path().to_owned();
        let other_host = Identity {
            host: "there".into(),
            ..identity()
        };
        assert!(matches!(
            root.open(&record.id, &other_host),
            Err(RunDirError::OtherHost { .. })
        ));
        let other_user = Identity {
            user: identity().user + 1,
            ..identity()
        };
        assert!(matches!(
            root.open(&record.id, &other_user),
            Err(RunDirError::OtherUser { .. })
        ));
        assert!(matches!(
            root.list(identity().user + 1),
            Err(RunDirError::OtherUser { .. })
        ));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(
            root.open(&record.id, &identity()),
            Err(RunDirError::NotPrivate { .. })
        ));
    }

    #[test]
    fn runs_are_listed_in_order_and_foreign_things_are_not() {
        let (_folder, root) = root();
        for (name, created) in [("b", 9000), ("a", 12_000), ("c", 3000)] {
            root.create(record(name, created), "token").unwrap();
        }
        fs::create_dir(root.runs().join("not-a-run")).unwrap();
        let entries = root.list(identity().user).unwrap();
        let flows: Vec<&str> = entries.iter().map(|entry| entry.record.flow.as_str()).collect();
        assert_eq!(flows, ["c", "b", "a"]);
    }

    #[test]
    fn the_newest_and_those_in_use_stay() {
        let entry = |created, in_use| RunEntry {
            record: record("a", created),
            in_use,
        };
        let entries = [
            entry(1000, false),
            entry(2000, true),
            entry(3000, false),
            entry(4000, false),
        ];
        let created = |policy| -> Vec<RunId> { prunable(&entries, policy) };
        let id = |index: usize| entries[index].record.id.clone();
        assert_eq!(
            created(PrunePolicy {
                keep: 1,
                before: None
            }),
            [id(0), id(2)]
        );
        assert_eq!(
            created(PrunePolicy {
                keep: 0,
                before: Some(3000)
            }),
            [id(0)]
        );
        assert_eq!(
            created(PrunePolicy {
                keep: 9,
                before: None
            }),
            []
        );
    }
}
