//! Foreign text in a quoted string of Graphviz.

use super::is_harmful;

/// A quoted string; a backslash is doubled, since Graphviz expands `\N` and the like in labels.
pub(crate) fn dot(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            // Graphviz reads HTML entities in strings too.
            '&' => quoted.push_str("&amp;"),
            character if is_harmful(character) => quoted.push('?'),
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::escape::HOSTILE;

    #[test]
    fn a_string_ends_only_where_we_end_it() {
        for text in HOSTILE {
            let quoted = dot(text);
            let inner = quoted
                .strip_prefix('"')
                .and_then(|rest| rest.strip_suffix('"'))
                .unwrap();
            let unescaped = inner.replace("\\\\", "").replace("\\\"", "");
            assert!(
                !unescaped.contains('"') && !quoted.contains(is_harmful),
                "{quoted}"
            );
        }
    }
}
