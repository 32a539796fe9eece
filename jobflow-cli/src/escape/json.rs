//! Foreign text in JSON and YAML that people look at too: the same values, without a character that harms a terminal.

use serde_json::Value;

use super::is_harmful;

/// An object as JSON over several lines. Inside of strings, where alone they can be, harmful characters are escaped.
pub(crate) fn json(value: &Value) -> String {
    harmless(&format!("{value:#}\n"))
}

/// The same in one line.
#[cfg(any(feature = "cluster", test))]
pub(crate) fn json_line(value: &Value) -> String {
    harmless(&format!("{value}\n"))
}

/// An object as YAML; as JSON, which is YAML too, where a text in it would harm.
pub(crate) fn yaml(value: &Value) -> String {
    match serde_saphyr::to_string(value) {
        Ok(text) if !text.contains(|c: char| c != '\n' && is_harmful(c)) => match text.ends_with('\n') {
            true => text,
            false => text + "\n",
        },
        Ok(_) | Err(_) => json(value),
    }
}

fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut units = [0; 2];
    for character in text.chars() {
        if character == '\n' || !is_harmful(character) {
            safe.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut units) {
            safe.push_str(&format!("\\u{unit:04x}"));
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::escape::HOSTILE;

    #[test]
    fn values_stay_the_same_and_nothing_harmful_is_left() {
        for text in HOSTILE {
            let value = json!({ text: [text, { "a": text }] });
            for written in [json(&value), json_line(&value), yaml(&value)] {
                assert!(
                    !written.contains(|c: char| c != '\n' && is_harmful(c)),
                    "{written}"
                );
                assert_eq!(
                    serde_saphyr::from_str::<Value>(&written).unwrap(),
                    value,
                    "{written}"
                );
            }
        }
    }
}
