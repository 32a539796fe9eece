//! ConfigMaps and Secrets that were given as manifests.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use jobflow_k8s::fault::FieldPath;
use serde_json::Value;

use super::PodFault;

type Objects = BTreeMap<String, BTreeMap<String, Vec<u8>>>;

/// All ConfigMaps and Secrets of a run, by name.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ConfigObjects {
    maps: Objects,
    secrets: Objects,
}

// Written by hand: values of Secrets must not reach a log through `{:?}`.
impl std::fmt::Debug for ConfigObjects {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = |objects: &Objects| objects.keys().cloned().collect::<Vec<_>>();
        let Self { maps, secrets } = self;
        formatter
            .debug_struct("ConfigObjects")
            .field("maps", &names(maps))
            .field("secrets", &names(secrets))
            .finish()
    }
}

impl ConfigObjects {
    /// Takes a manifest; tells whether it was a ConfigMap or a Secret.
    ///
    /// # Errors
    ///
    /// A fault for each value that isn't text, or isn't base64 where it has to be.
    pub fn add(&mut self, manifest: &Value) -> Result<bool, Vec<PodFault>> {
        let text = |field: &str| manifest.get(field).and_then(Value::as_str).unwrap_or_default();
        let (objects, plain, encoded) = match text("kind") {
            "ConfigMap" => (&mut self.maps, "data", "binaryData"),
            "Secret" => (&mut self.secrets, "stringData", "data"),
            _ => return Ok(false),
        };
        let name = manifest
            .pointer("/metadata/name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let mut faults = Vec::new();
        let mut data = read(manifest, encoded, &mut faults, |text| {
            let joined: String = text.split_ascii_whitespace().collect();
            STANDARD.decode(joined).ok()
        });
        data.extend(read(manifest, plain, &mut faults, |text| {
            Some(text.as_bytes().to_vec())
        }));
        if name.is_empty() {
            faults.push(PodFault::new(
                FieldPath::root().field("metadata").field("name"),
                "is missing",
            ));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        objects.insert(name.to_owned(), data);
        Ok(true)
    }

    /// Returns a ConfigMap.
    pub fn map(&self, name: &str) -> Option<&BTreeMap<String, Vec<u8>>> {
        self.maps.get(name)
    }

    /// Returns a Secret.
    pub fn secret(&self, name: &str) -> Option<&BTreeMap<String, Vec<u8>>> {
        self.secrets.get(name)
    }
}

fn read(
    manifest: &Value,
    field: &str,
    faults: &mut Vec<PodFault>,
    decode: impl Fn(&str) -> Option<Vec<u8>>,
) -> BTreeMap<String, Vec<u8>> {
    let entries = manifest
        .get(field)
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let mut data = BTreeMap::new();
    for (key, value) in entries {
        match value.as_str().and_then(&decode) {
            Some(bytes) => drop(data.insert(key.clone(), bytes)),
            // The value itself is not shown: it may be secret.
            None => faults.push(PodFault::new(
                FieldPath::root().field(field).field(key),
                "is not text, or not base64 where it must be",
            )),
        }
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plain_and_encoded_values_are_read() {
        let mut objects = ConfigObjects::default();
        let map = json!({"kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"a": "1"}, "binaryData": {"b": "AAE="}});
        let secret = json!({"kind": "Secret", "metadata": {"name": "s"}, "data": {"p": "aHVu\ndGVyMg=="}, "stringData": {"q": "x"}});
        assert_eq!(objects.add(&map), Ok(true));
        assert_eq!(objects.add(&secret), Ok(true));
        assert_eq!(objects.add(&json!({"kind": "Pod"})), Ok(false));
        assert_eq!(objects.map("m").unwrap()["b"], [0, 1]);
        assert_eq!(objects.secret("s").unwrap()["p"], b"hunter2");
        assert!(!format!("{objects:?}").contains("hunter2"));
    }

    #[test]
    fn a_broken_value_is_named_and_not_shown() {
        let secret = json!({"kind": "Secret", "metadata": {"name": "s"}, "data": {"p": "hunter2!"}});
        let faults = ConfigObjects::default().add(&secret).unwrap_err();
        assert_eq!(faults[0].path.to_string(), "data.p");
        assert!(!faults[0].message.contains("hunter2"));
    }
}
