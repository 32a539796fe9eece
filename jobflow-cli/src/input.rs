//! From arguments to texts: files, folders and the standard input, bounded.
//!
//! Comes in: `FILE`, `DIR` or `-`. Goes out: named texts in the order of the arguments, or everything that could not
//! be read, at once. Deliberately absent: what the texts mean.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use jobflow_k8s::yaml::MOST_BYTES;

use crate::failure::Failure;

/// A text and what faults call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    /// A path, or `<stdin>`.
    pub(crate) name: String,
    /// The whole of it.
    pub(crate) text: String,
}

/// Why a text can't be had.
#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error("{name}: {error}")]
    Refused { name: String, error: io::Error },
    #[error("{name}: more than {MOST_BYTES} bytes")]
    TooLarge { name: String },
    #[error("{name}: no UTF-8 text (byte {at})")]
    NoText { name: String, at: usize },
    #[error("{name}: no *.yaml, *.yml or *.json in this folder")]
    EmptyFolder { name: String },
    #[error("-: the standard input can be read only once")]
    Again,
}

/// Reads everything that is named.
///
/// # Errors
///
/// With all that could not be read.
pub(crate) fn read(names: &[PathBuf]) -> Result<Vec<Text>, Failure> {
    let (mut texts, mut faults) = (Vec::new(), Vec::new());
    let mut used = false;
    for name in names {
        let result = match name.as_os_str() == "-" {
            true if used => Err(Unreadable::Again),
            true => bounded("<stdin>".to_owned(), io::stdin().lock()).map(|text| vec![text]),
            false => file_or_folder(name),
        };
        used |= name.as_os_str() == "-";
        match result {
            Ok(read) => texts.extend(read),
            Err(fault) => faults.push(fault),
        }
    }
    let [first, others @ ..] = faults.as_slice() else {
        return Ok(texts);
    };
    let failure = Failure::wrong_input("cannot read the manifests").because(first);
    Err(others
        .iter()
        .fold(failure, |failure, fault| failure.because(fault)))
}

fn file_or_folder(path: &Path) -> Result<Vec<Text>, Unreadable> {
    let metadata = fs::metadata(path).map_err(refused(path))?;
    if !metadata.is_dir() {
        return file(path).map(|text| vec![text]);
    }
    let files = manifests_in(path).map_err(refused(path))?;
    if files.is_empty() {
        return Err(Unreadable::EmptyFolder {
            name: path.display().to_string(),
        });
    }
    files.iter().map(|path| file(path)).collect()
}

/// The regular files of a folder that look like manifests, sorted; links are no regular files.
fn manifests_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let wanted = path
            .extension()
            .is_some_and(|extension| ["yaml", "yml", "json"].iter().any(|known| extension == *known));
        if wanted && entry.file_type()?.is_file() {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}

fn file(path: &Path) -> Result<Text, Unreadable> {
    let file = File::open(path).map_err(refused(path))?;
    bounded(path.display().to_string(), file)
}

fn bounded(name: String, reader: impl Read) -> Result<Text, Unreadable> {
    let mut bytes = Vec::new();
    let most = u64::try_from(MOST_BYTES).unwrap_or(u64::MAX);
    if let Err(error) = reader.take(most.saturating_add(1)).read_to_end(&mut bytes) {
        return Err(Unreadable::Refused { name, error });
    }
    if bytes.len() > MOST_BYTES {
        return Err(Unreadable::TooLarge { name });
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Text { name, text }),
        Err(error) => Err(Unreadable::NoText {
            name,
            at: error.utf8_error().valid_up_to(),
        }),
    }
}

fn refused(path: &Path) -> impl FnOnce(io::Error) -> Unreadable {
    let name = path.display().to_string();
    |error| Unreadable::Refused { name, error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gives_its_regular_manifests_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.yaml", "a.json", "c.yml", "notes.txt"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        std::os::unix::fs::symlink(folder.path().join("b.yaml"), folder.path().join("link.yaml")).unwrap();
        fs::create_dir(folder.path().join("folder.yaml")).unwrap();
        let texts: Vec<String> = read(&[folder.path().to_owned()])
            .unwrap()
            .into_iter()
            .map(|text| text.text)
            .collect();
        assert_eq!(texts, ["a.json", "b.yaml", "c.yml"]);
    }

    #[test]
    fn all_that_can_not_be_read_is_told_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let binary = folder.path().join("binary.yaml");
        fs::write(&binary, b"ok\xff").unwrap();
        let names = ["/no/such/file".into(), folder.path().join("none"), binary];
        let Err(Failure::Said(said)) = read(&names) else {
            panic!("it was read")
        };
        let causes = said.causes.join("\n");
        assert!(
            causes.contains("/no/such/file: No such file") && causes.contains("byte 2"),
            "{causes}"
        );
    }

    #[test]
    fn a_text_without_end_is_refused() {
        let Err(Unreadable::TooLarge { name }) = bounded("x".to_owned(), io::repeat(b' ')) else {
            panic!("it was read")
        };
        assert_eq!(name, "x");
    }
}
