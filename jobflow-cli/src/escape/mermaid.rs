//! Foreign text in a quoted label of Mermaid.

use super::is_harmful;

/// A quoted label: everything that isn't plain becomes a numbered entity, which Mermaid never reads as markup.
pub(crate) fn mermaid(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        let plain =
            character.is_alphanumeric() || matches!(character, ' ' | '-' | '_' | '.' | ',' | ':' | '/');
        match character {
            character if plain => quoted.push(character),
            character if is_harmful(character) => quoted.push('?'),
            character => quoted.push_str(&format!("#{};", u32::from(character))),
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
    fn nothing_but_letters_and_entities_is_left() {
        for text in HOSTILE {
            let quoted = mermaid(text);
            assert!(!quoted.contains(is_harmful), "{quoted}");
            assert!(!quoted.contains(['<', '>', '`', '(', '[', '&']), "{quoted}");
            assert_eq!(quoted.matches('"').count(), 2, "{quoted}");
        }
        assert_eq!(mermaid("a<b>"), "\"a#60;b#62;\"");
    }
}
