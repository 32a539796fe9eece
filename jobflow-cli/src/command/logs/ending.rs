//! The last lines of what an attempt wrote.

use std::io;

use cap_std::fs::Dir;

use super::files::{self, Selector};
use super::lines::Lines;
use super::reading;

/// How many lines are shown.
const MOST_LINES: usize = 10;

/// One attempt of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// The entry's position.
    pub(crate) node: usize,
    /// The entry's name.
    pub(crate) name: String,
    /// Which one it is, from 1.
    pub(crate) attempt: u32,
}

/// The last lines in the folder of a run that an attempt wrote; empty where it wrote nothing.
///
/// Where several containers wrote, each has its share of them, with a label. On a terminal what could harm it is made
/// visible.
pub(crate) fn last_lines(folder: &Dir, of: &Attempt, terminal: bool) -> io::Result<Vec<u8>> {
    let ends = ends(folder, of)?;
    let share = MOST_LINES.checked_div(ends.len()).unwrap_or(MOST_LINES);
    let several = ends.len() > 1;
    let mut shown = Vec::new();
    for (label, bytes) in &ends {
        let mut lines = Lines::new(false, terminal);
        let tag = several.then_some(label.as_str());
        shown.extend(lines.show(label, tag, last(bytes, share)));
        shown.extend(lines.rest());
    }
    if !shown.is_empty() && !shown.ends_with(b"\n") {
        shown.push(b'\n');
    }
    Ok(shown)
}

/// The ends of the first logs that have any.
fn ends(folder: &Dir, of: &Attempt) -> io::Result<Vec<(String, Vec<u8>)>> {
    let files = files::find(folder, &Selector::entry(&of.name), of.node)?;
    let mut ends = Vec::new();
    for file in files::newest(files, of.attempt) {
        let bytes = reading::end(folder, &file.path)?;
        if !bytes.is_empty() {
            ends.push((file.label, bytes));
        }
        if ends.len() == MOST_LINES {
            break;
        }
    }
    Ok(ends)
}

/// The last lines of a text.
fn last(bytes: &[u8], most: usize) -> &[u8] {
    let ended = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let mut starts = ended.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    let from = starts
        .nth(most.saturating_sub(1))
        .map_or(0, |(at, _)| at.saturating_add(1));
    bytes.get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use cap_std::ambient_authority;

    use super::*;

    fn shown(logs: &[(&str, &str)], terminal: bool) -> String {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in logs {
            let path = folder.path().join("logs").join(name).join("main.0.log");
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        let of = Attempt {
            node: 2,
            name: "n".to_owned(),
            attempt: 2,
        };
        String::from_utf8(last_lines(&dir, &of, terminal).unwrap()).unwrap()
    }

    #[test]
    fn the_last_lines_of_the_attempt_are_shown() {
        let lines: String = (1..=12).map(|line| format!("line {line}\n")).collect();
        let last: String = (3..=12).map(|line| format!("line {line}\n")).collect();
        assert_eq!(shown(&[("2-0-2.main-0-0", &lines)], false), last);
        assert_eq!(shown(&[("2-0-1.main-0-0", &lines)], false), "");
        assert_eq!(shown(&[("2-0-2.main-0-0", "no end")], false), "no end\n");
    }

    #[test]
    fn foreign_text_is_escaped_on_a_terminal_and_exact_elsewhere() {
        let logs = [("2-0-2.main-0-0", "\u{1b}[31m\n")];
        assert_eq!(shown(&logs, true), "\\u{1b}[31m\n");
        assert_eq!(shown(&logs, false), "\u{1b}[31m\n");
    }

    #[test]
    fn several_pods_share_the_lines() {
        let six = "1\n2\n3\n4\n5\n6\n";
        let text = shown(&[("2-0-2.w-0-0", six), ("2-0-2.w-1-0", six)], false);
        assert_eq!(text.lines().count(), 10);
        assert!(text.starts_with("[n/w/0 main attempt 2] 2\n"), "{text}");
        assert!(text.ends_with("[n/w/1 main attempt 2] 6\n"), "{text}");
    }
}
