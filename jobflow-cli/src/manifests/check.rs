//! Documents against each other and against their kinds.

use std::collections::BTreeMap;

use jobflow_k8s::check::{Subject, subject};
use jobflow_k8s::extensions::Extensions;
use jobflow_k8s::fault::{Fault, FieldPath};
use jobflow_k8s::job::JobView;
use jobflow_k8s::parse::{Known, KnownTemplate, parse_document};
use jobflow_k8s::render::Draft;
use jobflow_k8s::schema::{Kind, Schemas};
use jobflow_k8s::types::{Entry, JobFlow};
use jobflow_k8s::yaml::Document;
use serde_json::Value;

use crate::shape::Shape;

/// Everything that is wrong, document by document.
pub(super) fn faults(documents: &[Document], schemas: &Schemas, extensions: &Extensions) -> Vec<Fault> {
    let mut faults = Vec::new();
    let templates = templates(documents, schemas, &mut faults);
    let known = Known {
        templates: Some(&templates),
        predicates: extensions.predicates(),
    };
    for document in documents {
        match subject(&document.value) {
            Subject::Ours(Kind::JobFlow) => faults.extend(of_flow(document, schemas, known)),
            Subject::Ours(Kind::JobFlowTemplate) => {
                faults.extend(schemas.check_document(document));
                faults.extend(of_jobs(document, schemas, known));
                faults.extend(of_shape(document));
            }
            Subject::Ours(Kind::JobTemplate | Kind::Job) | Subject::LookAlike(_) | Subject::Foreign => {
                faults.extend(schemas.check_document(document));
            }
        }
    }
    faults
}

/// What is known of templates of Jobs by name; what is wrong with them, and with Jobs, is told.
fn templates(
    documents: &[Document],
    schemas: &Schemas,
    faults: &mut Vec<Fault>,
) -> BTreeMap<String, KnownTemplate> {
    let mut templates = BTreeMap::new();
    for document in documents {
        let kind = match subject(&document.value) {
            Subject::Ours(kind @ (Kind::JobTemplate | Kind::Job)) => kind,
            Subject::Ours(Kind::JobFlow | Kind::JobFlowTemplate)
            | Subject::LookAlike(_)
            | Subject::Foreign => {
                continue;
            }
        };
        let Some(Value::Object(spec)) = document.value.get("spec") else {
            continue;
        };
        let name = document.name().filter(|_| kind == Kind::JobTemplate);
        let known = name.and_then(|name| Some((name.to_owned(), KnownTemplate::of(spec)?)));
        templates.extend(known);
        let found = match JobView::read(schemas, spec, &FieldPath::root().field("spec")) {
            Ok((_, warnings)) => warnings,
            Err(found) => found,
        };
        faults.extend(found.into_iter().map(|fault| document.with_place(fault)));
    }
    templates
}

fn of_flow(document: &Document, schemas: &Schemas, known: Known<'_>) -> Vec<Fault> {
    let mut faults = match parse_document(schemas, document, known) {
        Ok(flow) => flow.warnings,
        Err(faults) => faults,
    };
    faults.extend(of_jobs(document, schemas, known));
    // A value of a wrong type keeps the flow from being parsed; its names and arrows can be looked at nonetheless.
    if serde_json::from_value::<JobFlow>(document.value.clone()).is_err() {
        faults.extend(of_shape(document));
    }
    faults
}

/// What is wrong with Jobs as a flow writes or patches them.
fn of_jobs(document: &Document, schemas: &Schemas, known: Known<'_>) -> Vec<Fault> {
    let spec = FieldPath::root().field("spec");
    let mut faults = Vec::new();
    for list in ["flows", "finally"] {
        let entries = document.value.pointer(&format!("/spec/{list}"));
        let entries = entries.and_then(Value::as_array).into_iter().flatten();
        for (at, entry) in entries.enumerate() {
            // One that can't be read has its faults already.
            let Ok(entry) = serde_json::from_value::<Entry>(entry.clone()) else {
                continue;
            };
            let found = of_job(&entry, &spec.field(list).index(at), schemas, known);
            faults.extend(found.into_iter().map(|fault| document.with_place(fault)));
        }
    }
    faults
}

/// What is wrong with the Job of an entry that stands at `path`, as far as the entry is to blame.
fn of_job(entry: &Entry, path: &FieldPath, schemas: &Schemas, known: Known<'_>) -> Vec<Fault> {
    let name = entry.template.as_ref().unwrap_or(&entry.name);
    let template = known.templates.and_then(|templates| templates.get(name));
    let source = match (&entry.job_spec, template) {
        (Some(spec), _) => &spec.0,
        (None, Some(template)) => &template.spec,
        (None, None) => return Vec::new(),
    };
    // What an expression stands for isn't known yet.
    let changes = entry.patch.as_ref().and_then(|patch| patch.job_spec.as_ref());
    if changes.is_some_and(|changes| has_expression(&Value::Object(changes.0.clone()))) {
        return Vec::new();
    }
    let mut faults = match Draft::of(schemas, entry, source, path) {
        Err(faults) => faults,
        Ok(draft) => {
            let found = match draft.read(schemas) {
                Ok((_, warnings)) => warnings,
                Err(found) => found,
            };
            draft.warnings.into_iter().chain(found).collect()
        }
    };
    faults.retain(|fault| fault.path.segments().starts_with(path.segments()));
    faults
}

fn has_expression(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("${{"),
        Value::Array(elements) => elements.iter().any(has_expression),
        Value::Object(fields) => fields.values().any(has_expression),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn of_shape(document: &Document) -> Vec<Fault> {
    Shape::of(document).map_or_else(Vec::new, |shape| shape.faults(document))
}
