//! A Volcano Job spec as data: nothing is lost, nothing is added, the order of the author is kept.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::schema;

/// The spec of a Volcano Job (whole, or the part that a patch changes) as its author wrote it.
///
/// Typed views are laid over it. In a CRD it is an object about which the API server knows nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobSpecData(pub Map<String, Value>);

impl From<Map<String, Value>> for JobSpecData {
    fn from(map: Map<String, Value>) -> Self {
        Self(map)
    }
}

impl Deref for JobSpecData {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for JobSpecData {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl JsonSchema for JobSpecData {
    fn schema_name() -> Cow<'static, str> {
        "JobSpecData".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        schema::untyped_object(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_and_their_order_survive() {
        let text = r#"{"zeta":1,"queue":"q","alpha":{"b":null,"a":[]}}"#;
        let data: JobSpecData = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&data).unwrap(), text);
    }
}
