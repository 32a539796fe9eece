//! The conformance scripts of this repository, as every driver of them reads them.

use std::fs;
use std::path::Path;

use jobflow_core::testing::{End, Script};

/// A script with its name.
#[derive(Clone, Debug)]
pub struct Told {
    /// The name of its file, which is what it shows.
    pub name: String,
    /// Its text.
    pub text: String,
    /// What the text says.
    pub script: Script,
}

/// All of them, by name.
///
/// # Panics
///
/// If one can't be read.
#[must_use]
pub fn all() -> Vec<Told> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
    let files = fs::read_dir(&folder).expect("the scripts are there");
    let mut all: Vec<Told> = files
        .map(|file| read(&file.expect("the folder can be read").path()))
        .collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

fn read(file: &Path) -> Told {
    let name = file
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let text = fs::read_to_string(file).expect("a script can be read");
    let faults = |faults: Vec<_>| faults.iter().map(ToString::to_string).collect::<Vec<_>>();
    match Script::parse(&text).map_err(faults) {
        Ok(script) => Told { name, text, script },
        Err(faults) => unreadable(&name, &faults),
    }
}

#[expect(clippy::panic, reason = "a script that can't be read is a failed test")]
fn unreadable(name: &str, faults: &[String]) -> ! {
    panic!("{name}: {}", faults.join("; "))
}

impl Told {
    /// Why the script can't be played on a cluster; none if it can.
    #[must_use]
    pub fn kept_from_clusters(&self) -> Option<&'static str> {
        let is_asked = self.script.entries.iter().any(|entry| entry.when.is_some());
        if is_asked || self.text.contains(" switch=") {
            return Some("when or switch, which scripts have no expression for");
        }
        let never_starts = |end: End| end == End::NeverStarts;
        let mut ends = self.script.lives.values().map(|life| life.end);
        ends.any(never_starts)
            .then_some("a pod that fails before it starts: Volcano says of its Job that it ran")
    }
}
