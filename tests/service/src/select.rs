//! Selectors: which objects a list or a watch is about.

use serde_json::Value;

use super::kind::Kind;
use super::store::Key;

/// What must be true of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Requirement {
    Equal(String, String),
    Differs(String, String),
    Exists(String),
    Absent(String),
    OneOf(String, Vec<String>),
    NoneOf(String, Vec<String>),
}

/// Which objects of a kind are meant.
#[derive(Clone, Debug)]
pub struct Selector {
    /// The kind.
    pub kind: &'static Kind,
    /// The namespace; all without.
    pub namespace: Option<String>,
    labels: Vec<Requirement>,
    fields: Vec<Requirement>,
}

impl Selector {
    /// Reads the selectors of a request; an empty text selects all.
    #[must_use]
    pub fn read(kind: &'static Kind, namespace: Option<String>, labels: &str, fields: &str) -> Self {
        Self {
            kind,
            namespace,
            labels: requirements(labels),
            fields: requirements(fields),
        }
    }

    /// Whether it means this object.
    #[must_use]
    pub fn matches(&self, key: &Key, object: &Value) -> bool {
        let labels = &object["metadata"]["labels"];
        let label = |name: &str| labels[name].as_str();
        let field = |path: &str| path.split('.').fold(object, |value, step| &value[step]).as_str();
        let here = self
            .namespace
            .as_ref()
            .is_none_or(|namespace| *namespace == key.namespace);
        here && key.kind == self.kind
            && self.labels.iter().all(|requirement| requirement.holds(label))
            && self.fields.iter().all(|requirement| requirement.holds(field))
    }
}

impl Requirement {
    fn holds<'a>(&self, value: impl Fn(&str) -> Option<&'a str>) -> bool {
        let among = |name: &String, texts: &[String]| {
            value(name).is_some_and(|found| texts.iter().any(|text| text == found))
        };
        match self {
            Self::Equal(name, text) => value(name) == Some(text),
            Self::Differs(name, text) => value(name) != Some(text),
            Self::Exists(name) => value(name).is_some(),
            Self::Absent(name) => value(name).is_none(),
            Self::OneOf(name, texts) => among(name, texts),
            Self::NoneOf(name, texts) => !among(name, texts),
        }
    }
}

/// Cuts at commas outside brackets.
fn requirements(text: &str) -> Vec<Requirement> {
    let (mut depth, mut parts) = (0_i32, vec![String::new()]);
    for letter in text.chars() {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        match (letter, depth, parts.last_mut()) {
            (',', 0, _) => parts.push(String::new()),
            (_, _, Some(part)) => part.push(letter),
            (_, _, None) => {}
        }
    }
    let parts = parts.iter().map(|part| part.trim());
    parts.filter(|part| !part.is_empty()).map(requirement).collect()
}

fn requirement(text: &str) -> Requirement {
    if let Some((name, value)) = text.split_once("!=") {
        return Requirement::Differs(name.trim().to_owned(), value.trim().to_owned());
    }
    if let Some((name, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
        return Requirement::Equal(name.trim().to_owned(), value.trim().to_owned());
    }
    if let Some((name, values)) = text.split_once(" notin ") {
        return Requirement::NoneOf(name.trim().to_owned(), list(values));
    }
    if let Some((name, values)) = text.split_once(" in ") {
        return Requirement::OneOf(name.trim().to_owned(), list(values));
    }
    text.strip_prefix('!').map_or_else(
        || Requirement::Exists(text.to_owned()),
        |name| Requirement::Absent(name.trim().to_owned()),
    )
}

fn list(text: &str) -> Vec<String> {
    let inner = text.trim().trim_start_matches('(').trim_end_matches(')');
    inner.split(',').map(|part| part.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::kind::kind;
    use super::*;

    fn selects(labels: &str, fields: &str) -> bool {
        let object = json!({ "metadata": { "name": "a", "labels": { "app": "x", "tier": "1" } } });
        Selector::read(kind("jobs"), None, labels, fields).matches(&Key::of("jobs", "a"), &object)
    }

    #[test]
    fn labels_and_fields_are_selected_as_kubectl_writes_them() {
        for labels in [
            "",
            "app=x",
            "app==x,tier",
            "app in (x, y),!z",
            "z notin (1)",
            "app!=y",
        ] {
            assert!(selects(labels, ""), "{labels}");
        }
        for labels in ["app=y", "!app", "z", "app notin (x)", "app in (y,z)", "app!=x"] {
            assert!(!selects(labels, ""), "{labels}");
        }
        assert!(selects("", "metadata.name=a"));
        assert!(!selects("", "metadata.name=b"));
    }
}
