mod patched;

use serde_json::json;

use super::*;

fn flow() -> JobFlow {
    serde_json::from_value(json!({
        "apiVersion": "flow.volcano.sh/v1alpha1",
        "kind": "JobFlow",
        "metadata": { "name": "f", "namespace": "ns", "uid": "flow-uid" },
        "spec": { "flows": [{ "name": "train" }] },
    }))
    .unwrap()
}

fn template(spec: Value) -> JobTemplate {
    let mut template = JobTemplate::new("train", Default::default());
    template.spec.0 = serde_json::from_value(json!({
        "tasks": [{
            "replicas": 1,
            "template": {
                "metadata": { "annotations": { "sidecar.istio.io/inject": "false" } },
                "spec": { "containers": [{ "name": "main", "image": "x", "newField": 1 }] },
            },
        }],
    }))
    .unwrap();
    if let Value::Object(more) = spec {
        template.spec.0.extend(more);
    }
    template.metadata.uid = Some("template-uid".to_owned());
    template.metadata.generation = Some(4);
    template.metadata.labels = Some(
        [
            ("team".to_owned(), "x".to_owned()),
            ("helm.sh/chart".to_owned(), "y".to_owned()),
        ]
        .into(),
    );
    template
}

fn entry(more: Value) -> Entry {
    let mut entry = json!({ "name": "train" });
    if let (Value::Object(entry), Value::Object(more)) = (&mut entry, more) {
        entry.extend(more);
    }
    serde_json::from_value(entry).unwrap()
}

fn rendered(flow: &JobFlow, entry: &Entry, attempt: Attempt, template: &JobTemplate) -> Value {
    let rendered = render(&Schemas::new(), flow, entry, attempt, Some(template)).unwrap();
    serde_json::to_value(rendered.job).unwrap()
}

#[test]
fn a_job_carries_its_owner_its_key_and_its_template() {
    let job = rendered(&flow(), &entry(json!({})), Attempt::FIRST, &template(json!({})));
    assert_eq!(
        job["metadata"],
        json!({
            "name": "f-train",
            "namespace": "ns",
            "labels": {
                "team": "x",
                "flow.volcano.sh/entry": "train",
                "flow.volcano.sh/index": "0",
                "flow.volcano.sh/attempt": "1",
                "volcano.sh/createdByJobFlow": "ns.f",
                "volcano.sh/createdByJobTemplate": "ns.train",
            },
            "annotations": {
                "flow.volcano.sh/node": "train/0/1",
                "flow.volcano.sh/template": "template-uid/4",
                "volcano.sh/createdByJobFlow": "ns.f",
                "volcano.sh/createdByJobTemplate": "ns.train",
            },
            "ownerReferences": [{
                "apiVersion": "flow.volcano.sh/v1alpha1",
                "kind": "JobFlow",
                "name": "f",
                "uid": "flow-uid",
                "controller": true,
                "blockOwnerDeletion": true,
            }],
        })
    );
    assert_eq!(
        (&job["apiVersion"], &job["kind"]),
        (&json!("batch.volcano.sh/v1alpha1"), &json!("Job"))
    );
}

#[test]
fn a_spec_is_handed_on_as_it_was_written() {
    let template = template(json!({ "someNewField": { "a": null } }));
    let job = rendered(&flow(), &entry(json!({})), Attempt::FIRST, &template);
    assert_eq!(job["spec"], Value::Object(template.spec.0));
}

#[test]
fn a_later_attempt_of_an_instance_has_its_own_name() {
    let attempt = Attempt {
        instance: Some(7),
        number: 3,
    };
    let job = rendered(&flow(), &entry(json!({})), attempt, &template(json!({})));
    assert_eq!(job["metadata"]["name"], "f-train-7-r3");
    assert_eq!(
        job["metadata"]["annotations"]["flow.volcano.sh/node"],
        "train/7/3"
    );
    assert_eq!(job["metadata"]["labels"]["flow.volcano.sh/index"], "7");
}

#[test]
fn a_ttl_goes_to_an_annotation() {
    let job = rendered(
        &flow(),
        &entry(json!({})),
        Attempt::FIRST,
        &template(json!({ "ttlSecondsAfterFinished": 60 })),
    );
    assert_eq!(job["spec"].get("ttlSecondsAfterFinished"), None);
    assert_eq!(
        job["metadata"]["annotations"]["flow.volcano.sh/ttl-seconds-after-finished"],
        "60"
    );
}

#[test]
fn the_flows_queue_and_priority_fill_what_is_not_set() {
    let mut flow = flow();
    flow.spec.queue = Some("q".to_owned());
    flow.spec.priority_class_name = Some("high".to_owned());
    for (spec, queue, class) in [
        (json!({}), "q", "high"),
        (json!({ "queue": "default" }), "q", "high"),
        (json!({ "queue": "", "priorityClassName": "" }), "q", "high"),
        (
            json!({ "queue": "own", "priorityClassName": "low" }),
            "own",
            "low",
        ),
    ] {
        let job = rendered(&flow, &entry(json!({})), Attempt::FIRST, &template(spec.clone()));
        assert_eq!(
            (&job["spec"]["queue"], &job["spec"]["priorityClassName"]),
            (&json!(queue), &json!(class)),
            "{spec}"
        );
    }
}

#[test]
fn labels_of_a_patch_win_over_those_of_the_template() {
    let entry =
        entry(json!({ "patch": { "labels": { "team": "z", "a": "b" }, "annotations": { "note": "n" } } }));
    let job = rendered(&flow(), &entry, Attempt::FIRST, &template(json!({})));
    assert_eq!(
        (
            &job["metadata"]["labels"]["team"],
            &job["metadata"]["labels"]["a"]
        ),
        (&json!("z"), &json!("b"))
    );
    assert_eq!(job["metadata"]["annotations"]["note"], "n");
}

#[test]
fn an_inline_spec_has_no_template() {
    let spec = template(json!({})).spec.0;
    let entry = entry(json!({ "jobSpec": spec }));
    let rendered = render(&Schemas::new(), &flow(), &entry, Attempt::FIRST, None).unwrap();
    let annotations = rendered.job.metadata.annotations.unwrap();
    assert!(
        !annotations.contains_key("flow.volcano.sh/template"),
        "{annotations:?}"
    );
    assert!(
        !annotations.contains_key("volcano.sh/createdByJobTemplate"),
        "{annotations:?}"
    );
}

#[test]
fn equal_jobs_have_equal_digests() {
    let digest = |attempt| {
        render(
            &Schemas::new(),
            &flow(),
            &entry(json!({})),
            attempt,
            Some(&template(json!({}))),
        )
        .unwrap()
        .digest
    };
    assert_eq!(digest(Attempt::FIRST), digest(Attempt::FIRST));
    assert_ne!(
        digest(Attempt::FIRST),
        digest(Attempt {
            instance: None,
            number: 2
        })
    );
}

#[test]
fn what_volcano_would_refuse_is_not_rendered() {
    let faults = render(
        &Schemas::new(),
        &flow(),
        &entry(json!({})),
        Attempt::FIRST,
        Some(&template(json!({ "minAvailable": 2 }))),
    );
    let errors: Vec<_> = faults.unwrap_err().into_iter().filter(Fault::is_error).collect();
    assert_eq!(errors[0].path.to_string(), "spec.minAvailable");
    let faults = render(&Schemas::new(), &flow(), &entry(json!({})), Attempt::FIRST, None).unwrap_err();
    assert_eq!(faults[0].code, Code::UnknownReference);
}
