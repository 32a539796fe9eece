//! Foreign text in an element or attribute of SVG.

use super::is_harmful;

/// Text for an element or a quoted attribute.
pub(crate) fn svg(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // XML has no way to write most of these; the last two are no characters of it at all.
            character if is_harmful(character) || matches!(character, '\u{fffe}' | '\u{ffff}') => {
                safe.push('?');
            }
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
    fn no_element_or_attribute_can_begin_or_end() {
        for text in HOSTILE {
            let safe = svg(text);
            assert!(
                !safe.contains(['<', '>', '"', '\'']) && !safe.contains(is_harmful),
                "{safe}"
            );
        }
    }
}
