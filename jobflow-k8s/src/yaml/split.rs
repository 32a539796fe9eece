//! A text cut into its documents, so that each can be read for itself.

use crate::fault::Position;

/// One document of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    /// Its text, from its `---` on if it has one.
    pub(super) text: &'a str,
    /// How many lines stand before it.
    pub(super) lines_before: u32,
}

impl Part<'_> {
    /// Where it starts.
    pub(super) fn start(&self) -> Position {
        self.position(Position { line: 1, column: 1 })
    }

    /// A position in it, as a position in the whole text.
    pub(super) fn position(&self, inside: Position) -> Position {
        Position {
            line: inside.line.saturating_add(self.lines_before),
            column: inside.column,
        }
    }
}

/// The documents of a text. A line that begins with `---` or `...` ends one, wherever it stands: YAML allows neither
/// at the beginning of a line inside of a scalar.
pub(super) fn documents(text: &str) -> Vec<Part<'_>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut parts = Vec::new();
    let mut start = 0;
    let mut start_line = 0_u32;
    let mut at = 0;
    for (number, line) in (0_u32..).zip(text.split_inclusive('\n')) {
        let next = at + line.len();
        let (end, begin) = if is_marker(line, "---") {
            (at, at)
        } else if is_marker(line, "...") {
            (at, next)
        } else {
            at = next;
            continue;
        };
        parts.extend(part(text, start, end, start_line));
        start = begin;
        start_line = if begin == at {
            number
        } else {
            number.saturating_add(1)
        };
        at = next;
    }
    parts.extend(part(text, start, text.len(), start_line));
    parts
}

fn part(text: &str, start: usize, end: usize, lines_before: u32) -> Option<Part<'_>> {
    let text = text.get(start..end)?;
    text.lines()
        .any(has_content)
        .then_some(Part { text, lines_before })
}

fn is_marker(line: &str, marker: &str) -> bool {
    line.strip_prefix(marker)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
}

/// Whether a line is more than a comment, a directive, a lone `---` or nothing.
fn has_content(line: &str) -> bool {
    let line = if is_marker(line, "---") { &line[3..] } else { line };
    let trimmed = line.trim();
    !trimmed.is_empty() && !trimmed.starts_with('#') && !line.starts_with('%')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<(&str, u32)> {
        documents(text)
            .into_iter()
            .map(|part| (part.text, part.lines_before))
            .collect()
    }

    #[test]
    fn documents_without_content_are_dropped() {
        assert_eq!(texts(""), []);
        assert_eq!(texts("---\n# nothing\n---\n\n--- \n"), []);
        assert_eq!(texts("%YAML 1.2\n---\na: 1\n"), [("---\na: 1\n", 1)]);
    }

    #[test]
    fn markers_end_documents_and_lines_are_counted() {
        assert_eq!(
            texts("a: 1\n---\nb: 2\n...\nc: 3"),
            [("a: 1\n", 0), ("---\nb: 2\n", 1), ("c: 3", 4)]
        );
    }

    #[test]
    fn a_marker_may_stand_in_a_crlf_text_and_carry_content() {
        assert_eq!(
            texts("a: 1\r\n---\r\nb: 2\r\n"),
            [("a: 1\r\n", 0), ("---\r\nb: 2\r\n", 1)]
        );
        assert_eq!(texts("--- {a: 1}\n----\n"), [("--- {a: 1}\n----\n", 0)]);
    }

    #[test]
    fn a_byte_order_mark_is_no_content() {
        assert_eq!(texts("\u{feff}a: 1"), [("a: 1", 0)]);
    }
}
