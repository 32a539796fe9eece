//! Documents against each other and against their kinds.

use std::collections::BTreeMap;

use jobflow_k8s::check::{Subject, subject};
use jobflow_k8s::fault::{Fault, FieldPath};
use jobflow_k8s::job::JobView;
use jobflow_k8s::parse::{Known, parse_document};
use jobflow_k8s::schema::{Kind, Schemas};
use jobflow_k8s::types::JobFlow;
use jobflow_k8s::yaml::Document;
use serde_json::Value;

use crate::shape::Shape;

/// Everything that is wrong, document by document.
pub(super) fn faults(documents: &[Document], schemas: &Schemas) -> Vec<Fault> {
    let mut faults = Vec::new();
    let templates = templates(documents, schemas, &mut faults);
    let known = Known {
        templates: Some(&templates),
        predicates: &[],
    };
    for document in documents {
        match subject(&document.value) {
            Subject::Ours(Kind::JobFlow) => faults.extend(of_flow(document, schemas, known)),
            Subject::Ours(Kind::JobFlowTemplate) => {
                faults.extend(schemas.check_document(document));
                faults.extend(of_shape(document));
            }
            Subject::Ours(Kind::JobTemplate | Kind::Job) | Subject::LookAlike(_) | Subject::Foreign => {
                faults.extend(schemas.check_document(document));
            }
        }
    }
    faults
}

/// What Jobs and templates of Jobs look like; the templates by name.
fn templates(
    documents: &[Document],
    schemas: &Schemas,
    faults: &mut Vec<Fault>,
) -> BTreeMap<String, JobView> {
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
        let found = match JobView::read(schemas, spec, &FieldPath::root().field("spec")) {
            Ok((view, warnings)) => {
                let name = document.name().filter(|_| kind == Kind::JobTemplate);
                templates.extend(name.map(|name| (name.to_owned(), view)));
                warnings
            }
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
    faults.extend(of_inline_jobs(document, schemas));
    // A value of a wrong type keeps the flow from being parsed; its names and arrows can be looked at nonetheless.
    if serde_json::from_value::<JobFlow>(document.value.clone()).is_err() {
        faults.extend(of_shape(document));
    }
    faults
}

/// What is wrong with Jobs that are written in the flow.
fn of_inline_jobs(document: &Document, schemas: &Schemas) -> Vec<Fault> {
    let spec = FieldPath::root().field("spec");
    let mut faults = Vec::new();
    for list in ["flows", "finally"] {
        let entries = document.value.pointer(&format!("/spec/{list}"));
        let entries = entries.and_then(Value::as_array).into_iter().flatten();
        for (at, entry) in entries.enumerate() {
            let Some(Value::Object(job)) = entry.get("jobSpec") else {
                continue;
            };
            let path = spec.field(list).index(at).field("jobSpec");
            let found = match JobView::read(schemas, job, &path) {
                Ok((_, warnings)) => warnings,
                Err(found) => found,
            };
            faults.extend(found.into_iter().map(|fault| document.with_place(fault)));
        }
    }
    faults
}

fn of_shape(document: &Document) -> Vec<Fault> {
    Shape::of(document).map_or_else(Vec::new, |shape| shape.faults(document))
}
