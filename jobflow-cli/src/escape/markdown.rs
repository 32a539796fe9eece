//! Text in a paragraph or table of Markdown.

use super::is_harmful;

/// Text outside code: what could begin markup gets a backslash, line ends become blanks.
pub(crate) fn markdown(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => safe.push(' '),
            '<' => safe.push_str("&lt;"),
            '&' => safe.push_str("&amp;"),
            '[' | ']' | '|' | '*' | '\\' | '#' => safe.extend(['\\', character]),
            character if is_harmful(character) => safe.push('?'),
            character => safe.push(character),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::escape::HOSTILE;

    #[test]
    fn no_link_element_or_cell_can_begin() {
        for text in HOSTILE {
            let safe = markdown(text);
            let plain = safe.replace("\\[", "").replace("\\|", "");
            assert!(
                !plain.contains(['<', '[', '|']) && !safe.contains(is_harmful),
                "{safe}"
            );
        }
    }
}
