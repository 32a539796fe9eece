//! What an author may have meant.

/// The one of `known` that is closest to `written`, if it is close enough to be meant.
///
/// Case, dashes and underscores don't count; otherwise a third of the letters may differ. A known name that begins or
/// ends with what was written (or the other way round) is close too: `jobTemplateName` means `name` only by table,
/// `priorityClass` means `priorityClassName` by this rule.
#[must_use]
pub fn closest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = folded(written);
    known
        .into_iter()
        .filter_map(|name| Some((distance(&plain, &folded(name))?, name)))
        .min_by_key(|(distance, name)| (*distance, name.len()))
        .map(|(_, name)| name)
}

fn folded(name: &str) -> String {
    name.chars()
        .take(80)
        .filter(|c| !matches!(c, '-' | '_'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// How far apart two names are; none if too far.
fn distance(written: &str, known: &str) -> Option<usize> {
    let longest = written.chars().count().max(known.chars().count());
    let edits = strsim::damerau_levenshtein(written, known);
    if edits * 3 <= longest {
        return Some(edits);
    }
    let (short, long) = if written.len() < known.len() {
        (written, known)
    } else {
        (known, written)
    };
    let part = short.len() >= 4 && (long.starts_with(short) || long.ends_with(short));
    part.then_some(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_name_is_suggested() {
        let known = [
            "name",
            "dependsOn",
            "priorityClassName",
            "priority",
            "minAvailable",
        ];
        for (written, meant) in [
            ("nmae", Some("name")),
            ("depends_on", Some("dependsOn")),
            ("DependsOn", Some("dependsOn")),
            ("priorityClass", Some("priorityClassName")),
            ("min-available", Some("minAvailable")),
            ("foo", None),
            ("", None),
        ] {
            assert_eq!(closest(written, known), meant, "{written}");
        }
    }

    #[test]
    fn a_huge_name_costs_little() {
        assert_eq!(closest(&"x".repeat(1 << 20), ["name"]), None);
    }
}
