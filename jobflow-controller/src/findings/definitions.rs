//! Whether the definitions that are served hold what this controller relies on.
//!
//! Comes in: a definition as the server has it, or none. Goes out: what is wrong with it. Every field of our own schema
//! is relied upon: a field that is dropped in `status` makes records vanish, one in `spec` makes a flow mean something
//! else than its author wrote. Deliberately absent: the network.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion, JSONSchemaProps, JSONSchemaPropsOrArray,
    JSONSchemaPropsOrBool,
};

use super::{Check, list};

/// The definition of Volcano's Command.
const COMMANDS: &str = "commands.bus.volcano.sh";

/// What is relied upon of one definition.
#[derive(Clone, Debug)]
pub struct Needed {
    /// Its name, such as `jobflows.flow.volcano.sh`.
    pub name: String,
    version: String,
    status: bool,
    schema: Option<JSONSchemaProps>,
}

/// All definitions that are relied upon: ours with every field, Volcano's with what is read of them; that of Command only
/// where Jobs are ended by Commands.
#[must_use]
pub fn needed(commands: bool) -> Vec<Needed> {
    let ours = jobflow_k8s::crd::definitions()
        .into_iter()
        .map(|(_, definition)| {
            let status = definition.spec.versions.iter().any(has_status);
            Needed {
                name: definition.metadata.name.clone().unwrap_or_default(),
                version: jobflow_k8s::types::VERSION.to_owned(),
                status,
                schema: jobflow_k8s::crd::schema(&definition).cloned(),
            }
        });
    let volcano = [("jobs.batch.volcano.sh", true), (COMMANDS, false)];
    let volcano = volcano.map(|(name, status)| Needed {
        name: name.to_owned(),
        version: jobflow_k8s::types::VERSION.to_owned(),
        status,
        schema: None,
    });
    let all = ours.chain(volcano);
    all.filter(|needed| commands || needed.name != COMMANDS).collect()
}

/// What is wrong with the definition that is served.
#[must_use]
pub fn check(needed: &Needed, served: Option<&CustomResourceDefinition>) -> Option<(Check, String)> {
    let missing = |why: &str| Some((Check::DefinitionMissing, format!("{}: {why}", needed.name)));
    let Some(served) = served else {
        return missing("the definition is not installed");
    };
    let version = served
        .spec
        .versions
        .iter()
        .find(|version| version.name == needed.version);
    let Some(version) = version.filter(|version| version.served) else {
        return missing(&format!("version {} is not served", needed.version));
    };
    if !is_established(served) {
        return missing("the server has not accepted the definition yet");
    }
    if needed.status && !has_status(version) {
        return missing("it has no status subresource");
    }
    let lacking = lacking(needed.schema.as_ref()?, version);
    if lacking.is_empty() {
        return None;
    }
    let line = list(
        &format!("{} drops {} fields", needed.name, lacking.len()),
        &lacking,
    );
    Some((Check::SchemaLacksFields, line))
}

fn is_established(served: &CustomResourceDefinition) -> bool {
    let conditions = served
        .status
        .as_ref()
        .and_then(|status| status.conditions.as_ref());
    conditions
        .into_iter()
        .flatten()
        .any(|condition| condition.type_ == "Established" && condition.status == "True")
}

fn has_status(version: &CustomResourceDefinitionVersion) -> bool {
    version
        .subresources
        .as_ref()
        .is_some_and(|subresources| subresources.status.is_some())
}

/// The paths of fields that the server would drop.
fn lacking(needed: &JSONSchemaProps, version: &CustomResourceDefinitionVersion) -> Vec<String> {
    let schema = version
        .schema
        .as_ref()
        .and_then(|schema| schema.open_api_v3_schema.as_ref());
    let mut paths = Vec::new();
    match schema {
        Some(schema) => compare(needed, schema, "", &mut paths),
        None => paths.push("all of them".to_owned()),
    }
    paths
}

/// Our own schemas are as deep as our types, so this ends; what is served is only followed where ours goes.
fn compare(needed: &JSONSchemaProps, served: &JSONSchemaProps, path: &str, lacking: &mut Vec<String>) {
    let keeps_all = served.x_kubernetes_preserve_unknown_fields == Some(true);
    for (name, schema) in needed.properties.iter().flatten() {
        let path = match path {
            "" => name.clone(),
            path => format!("{path}.{name}"),
        };
        match served
            .properties
            .as_ref()
            .and_then(|properties| properties.get(name))
        {
            Some(served) => compare(schema, served, &path, lacking),
            None if keeps_all => {}
            None => lacking.push(path),
        }
    }
    if let Some(needed) = items(needed) {
        match items(served) {
            Some(served) => compare(needed, served, &format!("{path}[]"), lacking),
            None if keeps_all => {}
            None => lacking.push(format!("{path}[]")),
        }
    }
    if let Some(needed) = values(needed) {
        match values(served) {
            Some(served) => compare(needed, served, &format!("{path}.*"), lacking),
            None if keeps_all || keeps_values(served) => {}
            None => lacking.push(format!("{path}.*")),
        }
    }
    if needed.x_kubernetes_preserve_unknown_fields == Some(true) && !keeps_all && is_object(needed) {
        lacking.push(format!("{path}.* (whatever it holds)"));
    }
}

fn is_object(schema: &JSONSchemaProps) -> bool {
    schema.type_.as_deref() == Some("object")
}

fn items(schema: &JSONSchemaProps) -> Option<&JSONSchemaProps> {
    match schema.items.as_ref()? {
        JSONSchemaPropsOrArray::Schema(items) => Some(items),
        JSONSchemaPropsOrArray::Schemas(_) => None,
    }
}

fn values(schema: &JSONSchemaProps) -> Option<&JSONSchemaProps> {
    match schema.additional_properties.as_ref()? {
        JSONSchemaPropsOrBool::Schema(values) => Some(values),
        JSONSchemaPropsOrBool::Bool(_) => None,
    }
}

const fn keeps_values(schema: &JSONSchemaProps) -> bool {
    matches!(
        schema.additional_properties,
        Some(JSONSchemaPropsOrBool::Bool(true))
    )
}

#[cfg(test)]
mod tests;
