//! Decodes objects so that none stops a watch or a list: what can't be read is passed on as such, with its name.
//!
//! Goes further than kube's `DeserializeGuard`, which builds the object as a value first and so fails, with the whole
//! list, on one that is nested deeper than the parser allows: here the text of each object is cut out without looking
//! into it, and read on its own.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Resource;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// An object, or what is known of one that can't be read.
#[derive(Clone, Debug)]
pub(super) enum Guarded<K> {
    /// It could be read.
    Read(K),
    /// It couldn't.
    Unreadable(Box<Poison>),
}

/// An object that can't be read.
#[derive(Clone, Debug)]
pub(super) struct Poison {
    /// As much of its metadata as identifies it.
    pub(super) metadata: ObjectMeta,
    /// Why.
    pub(super) error: String,
}

/// What is read of a poison object; all else is read over, however deep.
#[derive(Default, Deserialize)]
struct Named {
    #[serde(default)]
    metadata: Identity,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Identity {
    name: Option<String>,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    generation: Option<i64>,
    owner_references: Option<Vec<OwnerReference>>,
}

impl<'de, K: DeserializeOwned> Deserialize<'de> for Guarded<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(serde_json::from_str(raw.get()).map_or_else(
            |error| Self::Unreadable(Box::new(Poison::of(&raw, &error))),
            Self::Read,
        ))
    }
}

impl Poison {
    fn of(raw: &RawValue, error: &serde_json::Error) -> Self {
        let named: Named = serde_json::from_str(raw.get()).unwrap_or_default();
        let Identity {
            name,
            namespace,
            uid,
            resource_version,
            generation,
            owner_references,
        } = named.metadata;
        let metadata = ObjectMeta {
            name,
            namespace,
            uid,
            resource_version,
            generation,
            owner_references,
            ..ObjectMeta::default()
        };
        Self {
            metadata,
            error: error.to_string(),
        }
    }
}

impl<K: Resource> Resource for Guarded<K> {
    type DynamicType = K::DynamicType;
    type Scope = K::Scope;

    fn kind(of: &Self::DynamicType) -> Cow<'_, str> {
        K::kind(of)
    }

    fn group(of: &Self::DynamicType) -> Cow<'_, str> {
        K::group(of)
    }

    fn version(of: &Self::DynamicType) -> Cow<'_, str> {
        K::version(of)
    }

    fn plural(of: &Self::DynamicType) -> Cow<'_, str> {
        K::plural(of)
    }

    fn meta(&self) -> &ObjectMeta {
        match self {
            Self::Read(object) => object.meta(),
            Self::Unreadable(poison) => &poison.metadata,
        }
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        match self {
            Self::Read(object) => object.meta_mut(),
            Self::Unreadable(poison) => &mut poison.metadata,
        }
    }
}

#[cfg(test)]
mod tests {
    use kube::core::{ObjectList, WatchEvent};

    use super::*;
    use crate::types::{JobFlow, JobTemplate};

    fn deep(levels: usize) -> String {
        format!("{}1{}", "[".repeat(levels), "]".repeat(levels))
    }

    fn template(name: &str, inside: &str) -> String {
        format!(r#"{{"metadata":{{"name":"{name}","resourceVersion":"7"}},"spec":{{"x":{inside}}}}}"#)
    }

    #[test]
    fn an_object_nested_deeper_than_the_parser_allows_stops_no_list() {
        let text = format!(
            r#"{{"kind":"JobTemplateList","apiVersion":"v1","metadata":{{"resourceVersion":"9"}},"items":[{},{}]}}"#,
            template("poison", &deep(20_000)),
            template("good", "1"),
        );
        let list: ObjectList<Guarded<JobTemplate>> = serde_json::from_str(&text).unwrap();
        assert!(
            matches!(&list.items[0], Guarded::Unreadable(poison) if poison.error.contains("recursion limit"))
        );
        assert_eq!(list.items[0].meta().name.as_deref(), Some("poison"));
        assert!(
            matches!(&list.items[1], Guarded::Read(template) if template.metadata.name.as_deref() == Some("good"))
        );
    }

    #[test]
    fn an_event_of_a_wrong_type_keeps_its_version() {
        let text = r#"{"type":"MODIFIED","object":{"metadata":{"name":"f","uid":"u","resourceVersion":"12"},
            "spec":{"flows":"none"}}}"#;
        let event: WatchEvent<Guarded<JobFlow>> = serde_json::from_str(text).unwrap();
        let WatchEvent::Modified(Guarded::Unreadable(poison)) = event else {
            panic!("it can't be read");
        };
        assert_eq!(poison.metadata.resource_version.as_deref(), Some("12"));
        assert_eq!(poison.metadata.uid.as_deref(), Some("u"));
    }
}
