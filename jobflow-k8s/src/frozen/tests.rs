use serde_json::{Value, json};

use super::*;

fn flow() -> JobFlow {
    let mut flow = JobFlow::new("nightly", crate::types::JobFlowSpec::default());
    flow.metadata.namespace = Some("ns".to_owned());
    flow.metadata.uid = Some("flow-uid".to_owned());
    flow
}

fn template() -> JobTemplate {
    serde_json::from_value(json!({
        "apiVersion": "flow.volcano.sh/v1alpha1",
        "kind": "JobTemplate",
        "metadata": {
            "name": "train", "namespace": "ns", "uid": "template-uid", "generation": 7,
            "labels": { "team": "x", "helm.sh/chart": "y" },
            "annotations": { "volcano.sh/preemptable": "true" },
        },
        "spec": { "queue": "q", "tasks": [{ "replicas": 1, "template": { "spec": { "a": 1, "b": null } } }] },
    }))
    .unwrap()
}

#[test]
fn a_frozen_template_is_named_with_its_hash_and_owned_by_its_flow() {
    let frozen = freeze(&flow(), &template()).unwrap();
    let metadata = serde_json::to_value(&frozen.metadata).unwrap();
    let name = frozen.metadata.name.clone().unwrap();
    assert!(
        name.starts_with("nightly-") && name.len() == "nightly-".len() + 20,
        "{name}"
    );
    assert_eq!(
        metadata["labels"],
        json!({
            "team": "x", "flow.volcano.sh/frozen": "train", "volcano.sh/createdByJobFlow": "ns.nightly",
        })
    );
    assert_eq!(
        metadata["annotations"]["flow.volcano.sh/template"],
        "template-uid/7"
    );
    assert_eq!(metadata["ownerReferences"][0]["uid"], "flow-uid");
    assert_eq!(flow_of(&frozen.metadata), Some("flow-uid"));
    assert_eq!(source_of(&frozen.metadata), Some("train"));
    assert_eq!(flow_of(&template().metadata), None);
    assert_eq!(
        selector(&flow().metadata),
        "flow.volcano.sh/frozen,volcano.sh/createdByJobFlow=ns.nightly"
    );
    assert_eq!(frozen.spec, template().spec);
}

#[test]
fn what_was_frozen_comes_back_as_it_was() {
    let thawed = thaw("flow-uid", &freeze(&flow(), &template()).unwrap()).unwrap();
    let mut expected = template();
    expected.metadata.labels.as_mut().unwrap().remove("helm.sh/chart");
    assert_eq!(thawed, expected);
}

#[test]
fn the_order_of_fields_and_the_age_of_the_template_are_no_content() {
    let mut other = template();
    let text = other
        .spec
        .0
        .iter()
        .rev()
        .map(|(name, value)| (name.clone(), value.clone()));
    other.spec.0 = text.collect();
    other.metadata.generation = Some(8);
    other.metadata.resource_version = Some("9".to_owned());
    let names = [template(), other].map(|template| freeze(&flow(), &template).unwrap().metadata.name);
    assert_eq!(names[0], names[1]);
}

#[test]
fn each_content_and_each_flow_has_a_name_of_its_own() {
    let name = |flow: &JobFlow, change: &dyn Fn(&mut JobTemplate)| {
        let mut template = template();
        change(&mut template);
        freeze(flow, &template).unwrap().metadata.name.unwrap()
    };
    let mut again = flow();
    again.metadata.uid = Some("another-uid".to_owned());
    let set = |value: Value| {
        move |template: &mut JobTemplate| drop(template.spec.0.insert("queue".to_owned(), value.clone()))
    };
    let names = [
        name(&flow(), &|_| {}),
        name(&again, &|_| {}),
        name(&flow(), &set(json!("r"))),
        name(&flow(), &set(json!(1))),
        name(&flow(), &set(json!("1"))),
        name(&flow(), &set(json!(["1"]))),
        name(&flow(), &set(Value::Null)),
        name(&flow(), &|template| drop(template.spec.0.shift_remove("queue"))),
        name(&flow(), &|template| {
            template.metadata.name = Some("other".to_owned())
        }),
        name(&flow(), &|template| template.metadata.labels = None),
    ];
    let distinct: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "{names:#?}");
}

#[test]
fn one_that_was_changed_is_refused() {
    let frozen = freeze(&flow(), &template()).unwrap();
    let mut edited = frozen.clone();
    edited.spec.0.insert("queue".to_owned(), "mine".into());
    let mut relabelled = frozen.clone();
    relabelled
        .metadata
        .labels
        .as_mut()
        .unwrap()
        .insert("team".to_owned(), "z".to_owned());
    let mut renamed = frozen.clone();
    renamed
        .metadata
        .annotations
        .as_mut()
        .unwrap()
        .insert(names::FROZEN.to_owned(), "other".to_owned());
    for changed in [edited, relabelled, renamed] {
        let fault = thaw("flow-uid", &changed).unwrap_err();
        assert!(
            fault.message.contains("its hash doesn't agree any more"),
            "{fault}"
        );
    }
    let fault = thaw("another-uid", &frozen).unwrap_err();
    assert!(fault.message.contains("wasn't frozen for this flow"), "{fault}");
}

#[test]
fn a_flow_freezes_four_mebibytes_at_most() {
    let mut large = template();
    large.spec.0.insert("text".to_owned(), "x".repeat(1 << 20).into());
    let frozen = freeze(&flow(), &large).unwrap();
    let mut used = 0;
    for _ in 0..3 {
        used = fits(used, &frozen).unwrap();
    }
    assert!(used > 3 << 20 && used == 3 * size(&frozen));
    let fault = fits(used, &frozen).unwrap_err();
    assert!(fault.message.contains("at most 4194304 may be"), "{fault}");
}

#[test]
fn a_flow_that_is_not_stored_freezes_nothing_and_long_names_are_cut() {
    let mut unstored = flow();
    unstored.metadata.uid = None;
    assert_eq!(
        freeze(&unstored, &template()).unwrap_err().code,
        Code::MissingField
    );
    let mut long = flow();
    long.metadata.name = Some(format!("{}.{}", "a".repeat(231), "b".repeat(20)));
    let name = freeze(&long, &template()).unwrap().metadata.name.unwrap();
    assert!(name.len() <= 253 && names::is_dns_subdomain(&name), "{name}");
    assert!(thaw("flow-uid", &freeze(&long, &template()).unwrap()).is_ok());
}
