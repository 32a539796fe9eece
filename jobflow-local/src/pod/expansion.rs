//! `$(VAR)` in commands, arguments, values and paths, replaced as a kubelet does it.
//!
//! A name that isn't known is left as it stands; `$$` is one dollar, so `$$(VAR)` is literal.

/// Replaces each `$(NAME)` whose name is known.
pub fn expand<'a>(text: &str, lookup: impl Fn(&str) -> Option<&'a str>) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        result.push_str(before);
        rest = match after.chars().next() {
            Some('$') => {
                result.push('$');
                after.get(1..).unwrap_or_default()
            }
            Some('(') => reference(after, &mut result, &lookup),
            Some(_) | None => {
                result.push('$');
                after
            }
        };
    }
    result.push_str(rest);
    result
}

/// Writes what `(NAME)…` stands for, and returns what follows it.
fn reference<'t, 'a>(
    after: &'t str,
    result: &mut String,
    lookup: &impl Fn(&str) -> Option<&'a str>,
) -> &'t str {
    let Some((name, rest)) = after.get(1..).and_then(|text| text.split_once(')')) else {
        result.push('$');
        return after;
    };
    match lookup(name) {
        Some(value) => result.push_str(value),
        None => {
            result.push_str("$(");
            result.push_str(name);
            result.push(')');
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kubelets_cases() {
        let lookup = |name: &str| match name {
            "A" => Some("one"),
            "B" => Some("$(A)"),
            "EMPTY" => Some(""),
            _ => None,
        };
        let cases = [
            ("", ""),
            ("plain", "plain"),
            ("$(A)", "one"),
            ("x$(A)y$(A)", "xoneyone"),
            ("$(B)", "$(A)"),
            ("$(EMPTY)", ""),
            ("$(UNKNOWN)", "$(UNKNOWN)"),
            ("$$(A)", "$(A)"),
            ("$$$(A)", "$one"),
            ("$$$$(A)", "$$(A)"),
            ("$A ${A} $", "$A ${A} $"),
            ("$(A", "$(A"),
            ("$(A $(A)", "$(A $(A)"),
            ("$()", "$()"),
            ("ü$ü$(A)", "ü$üone"),
        ];
        for (text, expected) in cases {
            assert_eq!(expand(text, lookup), expected, "{text}");
        }
    }
}
