//! Foreign text in a line of the log, an Event or a page: no character of it may act.

/// Whether a character could end a line, move a cursor, change colours or reorder what is seen.
fn is_harmful(character: char) -> bool {
    let reorders = matches!(
        character,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}'
    );
    reorders || character.is_control()
}

/// Writes harmful characters as `\u{1b}`.
pub(crate) fn text(text: &str) -> String {
    escaped(text, |character, safe| safe.extend(character.escape_unicode()))
}

/// Writes harmful characters as JSON does inside a string.
pub(crate) fn json(line: &str) -> String {
    escaped(line, |character, safe| {
        safe.push_str(&format!("\\u{:04x}", u32::from(character)))
    })
}

fn escaped(text: &str, write: impl Fn(char, &mut String)) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match is_harmful(character) {
            true => write(character, &mut safe),
            false => safe.push(character),
        }
    }
    safe
}

/// At most so many bytes of a text; what is cut off leaves a mark.
pub(crate) fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes.saturating_sub('…'.len_utf8()));
    format!("{}…", text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) const HOSTILE: &str = "a\u{1b}[31mb\r\nlevel=INFO\u{202e}c\u{9b}d\0";

    #[test]
    fn no_character_that_acts_is_left() {
        for safe in [text(HOSTILE), json(HOSTILE)] {
            assert!(!safe.contains(is_harmful), "{safe:?}");
        }
        assert_eq!(text("zwölf → 12"), "zwölf → 12");
        let read: String = serde_json::from_str(&format!("\"{}\"", json(HOSTILE))).unwrap();
        assert_eq!(read, HOSTILE);
    }

    #[test]
    fn a_cut_is_never_inside_a_character() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcdef", 5), "ab…");
        assert_eq!(cut("öööö", 6), "ö…");
        assert!(cut("öööö", 2).len() <= 3);
    }
}
