//! Whether a container can do with folders that are somewhere else than it thinks.
//!
//! A relative path is fine once the working folder is the right one. An absolute mount path in a command, an argument
//! or a variable is not, unless it is the real path too.

use std::path::{Path, PathBuf};

use super::Mounted;

/// Tells whether a text speaks of a path or of something below it.
pub fn mentions(text: &str, path: &Path) -> bool {
    places(text, path).next().is_some()
}

/// Puts another path in the place of one, wherever a text speaks of it or of something below it.
pub fn redirected(text: &str, from: &Path, to: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut end = 0;
    for (start, found) in places(text, from) {
        result.push_str(text.get(end..start).unwrap_or_default());
        result.push_str(to);
        end = start + found.len();
    }
    result.push_str(text.get(end..).unwrap_or_default());
    result
}

/// Finds where a text speaks of a path: as a whole, not as a part of another one.
fn places<'t>(text: &'t str, path: &'t Path) -> impl Iterator<Item = (usize, &'t str)> {
    let path = path.to_str().filter(|path| path.len() > 1);
    let found = path.into_iter().flat_map(|path| text.match_indices(path));
    found.filter(|(start, found)| {
        let before = text.get(..*start).and_then(|part| part.chars().next_back());
        let after = text
            .get(start + found.len()..)
            .and_then(|part| part.chars().next());
        !before.is_some_and(|c| continues(c) || c == '/') && !after.is_some_and(continues)
    })
}

fn continues(c: char) -> bool {
    c.is_alphanumeric() || "._-".contains(c)
}

/// Finds the mounts that a container speaks of by a path that is not the real one.
pub fn unreachable<'a>(mounts: &'a [Mounted], run: &Path, texts: &[&str]) -> Vec<&'a Mounted> {
    let is_elsewhere = |mounted: &&Mounted| mounted.real_path(run) != mounted.mount_path;
    let is_mentioned = |mounted: &&Mounted| texts.iter().any(|text| mentions(text, &mounted.mount_path));
    mounts.iter().filter(is_elsewhere).filter(is_mentioned).collect()
}

/// Finds the real folder of a path that lies in a mount.
pub fn folder_of(mounts: &[Mounted], run: &Path, path: &Path) -> Option<PathBuf> {
    let around = mounts
        .iter()
        .filter(|mounted| path.starts_with(&mounted.mount_path));
    let deepest = around.max_by_key(|mounted| mounted.mount_path.components().count())?;
    let below = path.strip_prefix(&deepest.mount_path).ok()?;
    let real = deepest.real_path(run);
    Some(if below.as_os_str().is_empty() {
        real
    } else {
        real.join(below)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volumes::Source;

    #[test]
    fn a_path_is_found_as_a_whole_only() {
        let cases = [
            ("/data", true),
            ("ls /data", true),
            ("--in=/data/a.csv", true),
            ("cat \"/data\"; rm x", true),
            ("a:/data:b", true),
            ("/database", false),
            ("/data-old", false),
            ("/mnt/data", false),
            ("s3://bucket/data", false),
            ("data", false),
            ("é/data", false),
        ];
        for (text, expected) in cases {
            assert_eq!(mentions(text, Path::new("/data")), expected, "{text}");
        }
        assert!(!mentions("/", Path::new("/")));
    }

    #[test]
    fn only_whole_paths_are_redirected() {
        let text = redirected("cat /data/a /database > /data", Path::new("/data"), "/run/x");
        assert_eq!(text, "cat /run/x/a /database > /run/x");
        assert_eq!(redirected("/", Path::new("/"), "/run"), "/");
    }

    #[test]
    fn the_deepest_mount_around_a_path_has_it() {
        let mounted = |path: &str, source| Mounted {
            mount_path: path.into(),
            source,
            sub_path: PathBuf::new(),
            read_only: false,
        };
        let mounts = [
            mounted("/data", Source::Folder("volumes/claims/d".into())),
            mounted("/data/raw", Source::User("/home/me/raw".into())),
            mounted("/same", Source::User("/same".into())),
        ];
        let folder = |path: &str| folder_of(&mounts, Path::new("/run"), Path::new(path));
        assert_eq!(folder("/data/x/y"), Some("/run/volumes/claims/d/x/y".into()));
        assert_eq!(folder("/data/raw/y"), Some("/home/me/raw/y".into()));
        assert_eq!(folder("/database"), None);
        let found = unreachable(&mounts, Path::new("/run"), &["cp /same/a /data/raw/b"]);
        let found: Vec<&Path> = found.iter().map(|mounted| mounted.mount_path.as_path()).collect();
        assert_eq!(found, [Path::new("/data"), Path::new("/data/raw")]);
    }
}
