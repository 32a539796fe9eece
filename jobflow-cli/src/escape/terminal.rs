//! Foreign text on a terminal or in a line of text.

/// Whether a character could move the cursor, change colours or reorder what is seen.
pub(crate) fn is_harmful(character: char) -> bool {
    let reorders = matches!(
        character,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}'
    );
    character.is_control() || reorders
}

/// Writes harmful characters as `\u{1b}`.
pub(crate) fn terminal(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match is_harmful(character) {
            true => safe.extend(character.escape_unicode()),
            false => safe.push(character),
        }
    }
    safe
}

/// Puts one harmless character in the place of each harmful one, so that columns stay what they are.
pub(crate) fn replaced(text: &str) -> String {
    let replace = |character: char| match character {
        '\t' => ' ',
        character if is_harmful(character) => '?',
        character => character,
    };
    text.chars().map(replace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::escape::HOSTILE;

    #[test]
    fn no_harmful_character_is_left() {
        for text in HOSTILE {
            assert!(!terminal(text).contains(is_harmful), "{text:?}");
            assert_eq!(replaced(text).chars().count(), text.chars().count());
            assert!(!replaced(text).contains(is_harmful), "{text:?}");
        }
    }

    #[test]
    fn plain_text_stays_as_it_is() {
        assert_eq!(terminal("zwölf → 12"), "zwölf → 12");
        assert_eq!(terminal("a\u{1b}b"), "a\\u{1b}b");
    }
}
