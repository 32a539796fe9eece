//! Derived names that meet: two jobs, or two pods, that would have one name.

use std::collections::BTreeMap;

/// An entry, as far as names follow from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Named<'a> {
    /// The entry's name.
    pub name: &'a str,
    /// Whether it is a group, whose instances carry their index.
    pub group: bool,
    /// Names of its tasks, as far as they are known.
    pub tasks: &'a [String],
}

/// Two entries whose names meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    /// The position of the entry whose name is at fault.
    pub entry: usize,
    /// The position of the other one.
    pub other: usize,
    /// What both would be called, without the flow's name.
    pub name: String,
    /// What would be called so.
    pub what: &'static str,
}

/// The entries whose derived names meet. Costs a few look-ups an entry and task, whatever the number of instances.
#[must_use]
pub fn collisions(entries: &[Named<'_>]) -> Vec<Collision> {
    let positions: BTreeMap<&str, usize> = (0..).zip(entries).map(|(at, entry)| (entry.name, at)).collect();
    let mut found: Vec<_> = (0..)
        .zip(entries)
        .filter_map(|(at, entry)| {
            let other = base(entry.name, entries, &positions)?;
            Some(Collision {
                entry: at,
                other,
                name: entry.name.to_owned(),
                what: "a job",
            })
        })
        .collect();
    found.extend(pods(entries, &positions));
    found
}

/// The entry of which `name` is an attempt or an instance.
fn base(name: &str, entries: &[Named<'_>], positions: &BTreeMap<&str, usize>) -> Option<usize> {
    let attempt_of = without_attempt(name);
    if let Some(other) = attempt_of.and_then(|base| positions.get(base)) {
        return Some(*other);
    }
    let instance_of = without_number(attempt_of.unwrap_or(name))?;
    positions
        .get(instance_of)
        .copied()
        .filter(|other| entries.get(*other).is_some_and(|entry| entry.group))
}

fn without_attempt(name: &str) -> Option<&str> {
    let (base, number) = name.rsplit_once("-r")?;
    (is_number(number) && number != "0" && number != "1").then_some(base)
}

fn without_number(name: &str) -> Option<&str> {
    let (base, number) = name.rsplit_once('-')?;
    is_number(number).then_some(base)
}

/// Whether a text is a number as it is written in derived names.
fn is_number(text: &str) -> bool {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    !text.is_empty() && text.len() <= 10 && digits && (text == "0" || !text.starts_with('0'))
}

/// Entries whose `<entry>-<task>` meet: their pods would have one name.
fn pods(entries: &[Named<'_>], positions: &BTreeMap<&str, usize>) -> Vec<Collision> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        for task in entry.tasks {
            let prefix = format!("{}-{task}", entry.name);
            let plain = seen
                .get(&prefix)
                .copied()
                .filter(|other| entries[*other].group == entry.group);
            let other = plain.or_else(|| {
                if entry.group {
                    None
                } else {
                    instance(&prefix, entries, positions)
                }
            });
            if let Some(other) = other.filter(|other| *other != at) {
                found.push(Collision {
                    entry: at,
                    other,
                    name: prefix.clone(),
                    what: "a pod",
                });
            }
            seen.entry(prefix).or_insert(at);
        }
    }
    found
}

/// The group of which an instance's task gives this prefix too.
fn instance(prefix: &str, entries: &[Named<'_>], positions: &BTreeMap<&str, usize>) -> Option<usize> {
    prefix.match_indices('-').find_map(|(at, _)| {
        let group = *positions.get(prefix.get(..at)?)?;
        let (number, task) = prefix.get(at + 1..)?.split_once('-')?;
        let entry = entries.get(group)?;
        (entry.group && is_number(number) && entry.tasks.iter().any(|known| known == task)).then_some(group)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(entries: &[(&str, bool, &[&str])]) -> Vec<(usize, usize, String)> {
        let tasks: Vec<Vec<String>> = entries
            .iter()
            .map(|(_, _, tasks)| tasks.iter().map(|task| (*task).to_owned()).collect())
            .collect();
        let named: Vec<_> = entries
            .iter()
            .zip(&tasks)
            .map(|((name, group, _), tasks)| Named {
                name,
                group: *group,
                tasks,
            })
            .collect();
        collisions(&named)
            .into_iter()
            .map(|found| (found.entry, found.other, found.name))
            .collect()
    }

    #[test]
    fn an_entry_named_like_an_attempt_or_instance_of_another_is_found() {
        assert_eq!(
            check(&[("a", false, &[]), ("a-r2", false, &[])]),
            [(1, 0, "a-r2".to_owned())]
        );
        assert_eq!(
            check(&[("a-1", false, &[]), ("a", true, &[])]),
            [(0, 1, "a-1".to_owned())]
        );
        assert_eq!(
            check(&[("a", true, &[]), ("a-1-r3", false, &[])]),
            [(1, 0, "a-1-r3".to_owned())]
        );
    }

    #[test]
    fn names_that_are_never_derived_are_free() {
        let free: &[(&str, bool, &[&str])] = &[
            ("a", false, &[]),
            ("a-1", false, &[]),
            ("a-r1", false, &[]),
            ("a-r02", false, &[]),
            ("a-rx", false, &[]),
            ("b", true, &[]),
            ("b-01", false, &[]),
            ("b-x", false, &[]),
        ];
        assert_eq!(check(free), []);
    }

    #[test]
    fn pods_that_would_have_one_name_are_found() {
        assert_eq!(
            check(&[("a", false, &["b-c"]), ("a-b", false, &["c"])]),
            [(1, 0, "a-b-c".to_owned())]
        );
        assert_eq!(check(&[("a", true, &["c"]), ("a-x", false, &["c"])]), []);
        assert_eq!(
            check(&[
                ("a", true, &["c"]),
                ("b", false, &["c"]),
                ("a-7-c", false, &["d"])
            ]),
            []
        );
        assert_eq!(
            check(&[("g", true, &["t-u"]), ("g-7-t", false, &["u"])]),
            [(1, 0, "g-7-t-u".to_owned())]
        );
        assert_eq!(check(&[("a", false, &["b"]), ("c", false, &["b"])]), []);
    }
}
