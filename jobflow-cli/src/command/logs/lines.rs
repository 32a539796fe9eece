//! Output of tasks as it is shown: exact, or line by line with a label and without anything that harms a terminal.

use std::collections::BTreeMap;

use crate::escape;

/// A line that is longer is cut in two.
const MOST_BYTES: usize = 64 << 10;

/// Turns bytes into what is shown.
pub(crate) struct Lines {
    raw: bool,
    escaped: bool,
    /// The beginnings of lines by the log they are of, with the label that goes before them.
    begun: BTreeMap<String, (Option<String>, Vec<u8>)>,
}

impl Lines {
    /// `raw` changes nothing at all; on a terminal what could harm it is made visible.
    pub(crate) const fn new(raw: bool, terminal: bool) -> Self {
        Self {
            raw,
            escaped: terminal && !raw,
            begun: BTreeMap::new(),
        }
    }

    /// What to write for some bytes of a log.
    pub(crate) fn show(&mut self, log: &str, label: Option<&str>, bytes: &[u8]) -> Vec<u8> {
        if self.raw || (label.is_none() && !self.escaped) {
            return bytes.to_vec();
        }
        let begun = self.begun.entry(log.to_owned()).or_default();
        begun.0 = label.map(str::to_owned);
        let mut shown = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            begun.1.extend_from_slice(part);
            if begun.1.ends_with(b"\n") || begun.1.len() > MOST_BYTES {
                line(&mut shown, label, &begun.1, self.escaped);
                begun.1.clear();
            }
        }
        shown
    }

    /// What to write for lines that never ended.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut shown = Vec::new();
        for (label, bytes) in std::mem::take(&mut self.begun).into_values() {
            if !bytes.is_empty() {
                line(&mut shown, label.as_deref(), &bytes, self.escaped);
            }
        }
        shown
    }
}

fn line(shown: &mut Vec<u8>, label: Option<&str>, bytes: &[u8], escaped: bool) {
    if let Some(label) = label {
        shown.extend_from_slice(format!("[{}] ", escape::terminal(label)).as_bytes());
    }
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if escaped {
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_suffix('\r').unwrap_or(&text);
        let parts: Vec<String> = text.split('\t').map(escape::terminal).collect();
        shown.extend_from_slice(parts.join("\t").as_bytes());
    } else {
        shown.extend_from_slice(bytes);
    }
    shown.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_output_is_exact_whatever_it_is() {
        let mut lines = Lines::new(true, true);
        let bytes = b"\x1b[31m\xff\r\nno end";
        assert_eq!(lines.show("a", Some("a"), bytes), bytes);
        assert_eq!(lines.rest(), b"");
    }

    #[test]
    fn on_a_terminal_nothing_harmful_is_left() {
        let mut lines = Lines::new(false, true);
        let shown = lines.show("a", None, b"a\tb\r\n\x1b]0;x\x07\xff\n");
        assert_eq!(
            String::from_utf8(shown).unwrap(),
            "a\tb\n\\u{1b}]0;x\\u{7}\u{fffd}\n"
        );
    }

    #[test]
    fn lines_of_several_logs_have_labels_and_stay_whole() {
        let mut lines = Lines::new(false, false);
        assert_eq!(lines.show("a", Some("a"), b"one\ntw"), b"[a] one\n");
        assert_eq!(lines.show("b", Some("b"), b"x\n"), b"[b] x\n");
        assert_eq!(lines.show("a", Some("a"), b"o\nrest"), b"[a] two\n");
        assert_eq!(lines.rest(), b"[a] rest\n");
    }

    #[test]
    fn a_line_without_end_is_cut() {
        let mut lines = Lines::new(false, true);
        assert!(!lines.show("a", None, &vec![b'x'; MOST_BYTES + 1]).is_empty());
    }
}
