//! What our objects look like: one tree, from which manifests are checked and editors are served.
//!
//! Comes in: the generated definitions, and the pod template of the Kubernetes version that is compiled in. Goes out:
//! a schema a kind, as used by [`crate::check`], and as JSON Schema (draft 2020-12) for editors. Deliberately absent:
//! rules that look at more than one field.

mod editor;

use kube::core::schema::{OptionalEnum, OptionalIntOrString};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::crd;
use crate::types::job::JobSpec;
pub use editor::files;

/// The kinds whose objects are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A flow.
    JobFlow,
    /// The spec of a Job.
    JobTemplate,
    /// The spec of a flow.
    JobFlowTemplate,
    /// Volcano's Job.
    Job,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::JobFlow, Self::JobTemplate, Self::JobFlowTemplate, Self::Job];

    /// Its name, as `kind` says it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::JobFlow => "JobFlow",
            Self::JobTemplate => "JobTemplate",
            Self::JobFlowTemplate => "JobFlowTemplate",
            Self::Job => "Job",
        }
    }

    /// Its group and version, as `apiVersion` says them.
    #[must_use]
    pub const fn api_version(self) -> &'static str {
        match self {
            Self::JobFlow | Self::JobTemplate | Self::JobFlowTemplate => "flow.volcano.sh/v1alpha1",
            Self::Job => "batch.volcano.sh/v1alpha1",
        }
    }
}

/// The schemas of all kinds. Building them takes some milliseconds: keep them.
#[derive(Clone, Debug)]
pub struct Schemas {
    flow_spec: Value,
    /// The parts that others refer to: `JobSpec`, and those of pods.
    definitions: Map<String, Value>,
}

const POD_TEMPLATE: &str = "io.k8s.api.core.v1.PodTemplateSpec";
const CLAIM: &str = "io.k8s.api.core.v1.PersistentVolumeClaimSpec";
const METADATA: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const JOB_SPEC: &str = "JobSpec";

impl Default for Schemas {
    fn default() -> Self {
        Self::new()
    }
}

impl Schemas {
    /// Builds the schemas from the types.
    #[must_use]
    pub fn new() -> Self {
        let mut definitions = kubernetes_definitions();
        let job_spec = job_spec();
        let mut flow_spec = flow_spec();
        let task = job_spec
            .pointer("/properties/tasks/items/properties")
            .and_then(Value::as_object)
            .cloned();
        complete_tasks(&mut flow_spec, &task.unwrap_or_default());
        for list in ["flows", "finally"] {
            for job_spec in ["jobSpec", "patch/properties/jobSpec"] {
                refer(
                    &mut flow_spec,
                    &format!("/properties/{list}/items/properties/{job_spec}"),
                    JOB_SPEC,
                );
            }
        }
        definitions.insert(JOB_SPEC.to_owned(), job_spec);
        Self {
            flow_spec,
            definitions,
        }
    }

    /// The schema of the spec of a kind.
    pub(crate) fn spec(&self, kind: Kind) -> &Value {
        match kind {
            Kind::JobFlow | Kind::JobFlowTemplate => &self.flow_spec,
            Kind::JobTemplate | Kind::Job => self.job_spec(),
        }
    }

    /// The schema of a Job's spec.
    pub(crate) fn job_spec(&self) -> &Value {
        self.definitions.get(JOB_SPEC).unwrap_or(&Value::Null)
    }

    /// The schema of an object's metadata.
    pub(crate) fn metadata(&self) -> &Value {
        self.definitions.get(METADATA).unwrap_or(&Value::Null)
    }

    /// The schema that a schema stands for.
    pub(crate) fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let name = schema
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|name| name.rsplit('/').next());
        name.and_then(|name| self.definitions.get(name)).unwrap_or(schema)
    }
}

/// A schema as the API server has it, without references.
fn structural<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::openapi3()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .with_transform(schemars::transform::AddNullable::default())
        .with_transform(kube::core::schema::StructuralSchemaRewriter)
        .with_transform(OptionalEnum)
        .with_transform(OptionalIntOrString)
        .into_generator();
    generator.into_root_schema_for::<T>().to_value()
}

/// The spec of a flow, as its definition has it.
fn flow_spec() -> Value {
    let [(_, definition), _, _] = crd::definitions();
    let schema = crd::schema(&definition).and_then(|schema| serde_json::to_value(schema).ok());
    schema
        .and_then(|schema| schema.pointer("/properties/spec").cloned())
        .unwrap_or_default()
}

/// The spec of a Job, with whole pod templates and claims.
fn job_spec() -> Value {
    let mut schema = structural::<JobSpec>();
    refer(
        &mut schema,
        "/properties/tasks/items/properties/template",
        POD_TEMPLATE,
    );
    refer(
        &mut schema,
        "/properties/volumes/items/properties/volumeClaim",
        CLAIM,
    );
    schema
}

/// The schemas of pods, claims and metadata by name, as Kubernetes has them.
fn kubernetes_definitions() -> Map<String, Value> {
    use k8s_openapi::api::core::v1::{PersistentVolumeClaimSpec, PodTemplateSpec};
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

    let mut generator = SchemaSettings::draft2020_12().into_generator();
    generator.subschema_for::<PodTemplateSpec>();
    generator.subschema_for::<PersistentVolumeClaimSpec>();
    generator.subschema_for::<ObjectMeta>();
    let mut definitions = generator.take_definitions(true);
    for (name, schema) in &mut definitions {
        // A field that is not known here may be one of a newer Kubernetes.
        let keeps = name != METADATA && schema.get("properties").is_some();
        let Some(schema) = schema.as_object_mut() else {
            continue;
        };
        if keeps {
            schema.insert("x-kubernetes-preserve-unknown-fields".to_owned(), true.into());
        }
        if name == QUANTITY {
            schema.insert("format".to_owned(), "quantity".into());
        }
    }
    definitions
}

/// Gives the tasks of a flow the fields of a Job's tasks.
fn complete_tasks(flow_spec: &mut Value, task: &Map<String, Value>) {
    let tasks = flow_spec
        .pointer_mut("/properties/tasks/items/properties")
        .and_then(Value::as_object_mut);
    let Some(properties) = tasks else { return };
    for (name, schema) in task {
        properties.entry(name.clone()).or_insert_with(|| schema.clone());
    }
}

/// Puts a reference in the place of a schema, and keeps its description.
fn refer(schema: &mut Value, pointer: &str, name: &str) {
    let Some(place) = schema.pointer_mut(pointer) else {
        return;
    };
    let mut reference = json!({ "$ref": format!("#/$defs/{name}"), "nullable": true });
    if let Some(description) = place.get("description") {
        reference["description"] = description.clone();
    }
    *place = reference;
}
