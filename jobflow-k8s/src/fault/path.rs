//! The path of a field: `spec.flows[2].dependsOn.targets[0]`, `metadata.labels["a.b/c"]`.

use std::fmt;
use std::str::FromStr;

/// The path of a field from the root of its object. Its text and its parts are the same thing: each gives the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath(Vec<Segment>);

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// A field or a key of a mapping.
    Field(String),
    /// A place in a list.
    Index(usize),
}

/// A text that is no path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no path of a field: unexpected text at byte {at}")]
pub struct PathError {
    /// Where it stops making sense.
    pub at: usize,
}

impl FieldPath {
    /// The whole object.
    #[must_use]
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// Whether this is the whole object.
    #[must_use]
    pub const fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The path of a field of this.
    #[must_use]
    pub fn field(&self, name: impl Into<String>) -> Self {
        let mut path = self.clone();
        path.push(Segment::Field(name.into()));
        path
    }

    /// The path of an element of this.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        let mut path = self.clone();
        path.push(Segment::Index(index));
        path
    }

    /// The path of `inner`, which starts where this ends.
    #[must_use]
    pub fn join(&self, inner: &Self) -> Self {
        Self(self.0.iter().chain(&inner.0).cloned().collect())
    }

    /// Goes one step down.
    pub fn push(&mut self, segment: Segment) {
        self.0.push(segment);
    }

    /// Goes one step up; none at the root.
    pub fn pop(&mut self) -> Option<Segment> {
        self.0.pop()
    }

    /// The steps.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Field(name) if !is_plain(name) => write!(f, "[{}]", quoted(name))?,
                Segment::Field(name) if at == 0 => f.write_str(name)?,
                Segment::Field(name) => write!(f, ".{name}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Whether a name needs no quotes.
fn is_plain(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$');
    !name.is_empty() && name.chars().all(allowed)
}

fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}

impl FromStr for FieldPath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let mut path = Self::root();
        let mut rest = text;
        while !rest.is_empty() {
            let at = text.len() - rest.len();
            let (segment, used) = step(rest, path.is_root()).ok_or(PathError { at })?;
            path.push(segment);
            rest = rest.get(used..).ok_or(PathError { at })?;
        }
        Ok(path)
    }
}

/// The first step of a text, and how many bytes it takes.
fn step(text: &str, first: bool) -> Option<(Segment, usize)> {
    let Some(inside) = text.strip_prefix('[') else {
        let name = if first { text } else { text.strip_prefix('.')? };
        let end = name.find(['.', '[', ']', '"']).unwrap_or(name.len());
        let name = name.get(..end).filter(|name| is_plain(name))?;
        return Some((Segment::Field(name.to_owned()), end + usize::from(!first)));
    };
    if inside.starts_with('"') {
        let mut values = serde_json::Deserializer::from_str(inside).into_iter::<String>();
        let name = values.next()?.ok()?;
        let end = values.byte_offset();
        return inside
            .get(end..)?
            .starts_with(']')
            .then_some((Segment::Field(name), end + 2));
    }
    let end = inside.find(']')?;
    let index = inside.get(..end)?.parse().ok()?;
    Some((Segment::Index(index), end + 2))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_path_reads_as_kubernetes_writes_it() {
        let path = FieldPath::root()
            .field("spec")
            .field("flows")
            .index(2)
            .field("dependsOn");
        assert_eq!(path.to_string(), "spec.flows[2].dependsOn");
        let key = FieldPath::root()
            .field("metadata")
            .field("labels")
            .field("a.b/\"c]");
        assert_eq!(key.to_string(), r#"metadata.labels["a.b/\"c]"]"#);
    }

    #[test]
    fn a_text_that_is_no_path_is_refused_with_its_place() {
        for (text, at) in [
            ("a..b", 1),
            ("a[x]", 1),
            ("a[\"x]", 1),
            (".a", 0),
            ("a]", 1),
            ("a[1", 1),
        ] {
            assert_eq!(text.parse::<FieldPath>(), Err(PathError { at }), "{text}");
        }
    }

    fn segment() -> impl Strategy<Value = Segment> {
        prop_oneof![
            ".*".prop_map(Segment::Field),
            any::<usize>().prop_map(Segment::Index)
        ]
    }

    proptest! {
        #[test]
        fn text_and_path_are_the_same(segments in prop::collection::vec(segment(), 0..6)) {
            let path = FieldPath(segments);
            prop_assert_eq!(path.to_string().parse(), Ok(path));
        }

        #[test]
        fn no_text_panics(text in ".*") {
            let _ = text.parse::<FieldPath>();
        }
    }
}
