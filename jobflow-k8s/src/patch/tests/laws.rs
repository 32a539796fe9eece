use proptest::prelude::*;

use super::*;

/// Any JSON, with the names that a merge knows in it.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3_i64).prop_map(Value::from),
        prop::sample::select(&["a", "b", "replace", "delete", "merge", ""][..]).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn name() -> impl Strategy<Value = String> {
    let fields = &[
        "name",
        "tasks",
        "template",
        "spec",
        "metadata",
        "containers",
        "env",
        "value",
        "valueFrom",
        "volumes",
        "mountPath",
        "ports",
        "containerPort",
        "finalizers",
        "args",
        "livenessProbe",
        "exec",
        "grpc",
        "$patch",
        "$retainKeys",
        "$setElementOrder/containers",
        "$setElementOrder/finalizers",
        "$setElementOrder/args",
        "$deleteFromPrimitiveList/args",
        "$deleteFromPrimitiveList/finalizers",
        "x",
    ][..];
    prop::sample::select(fields).prop_map(str::to_owned)
}

fn object() -> impl Strategy<Value = Map<String, Value>> {
    let fields = ["tasks", "containers", "finalizers", "args"];
    anything().prop_map(move |value| match value.as_object() {
        Some(fields) => fields.clone(),
        None => fields
            .map(|field| (field.to_owned(), value.clone()))
            .into_iter()
            .collect(),
    })
}

fn kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(
        &[
            Kind::JobSpec,
            Kind::PodTemplate,
            Kind::PodSpec,
            Kind::Metadata,
            Kind::Container,
        ][..],
    )
}

fn says_order(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| name.starts_with("$setElementOrder") || says_order(value)),
        Value::Array(elements) => elements.iter().any(says_order),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Whether a list holds an element twice, as told apart by any key.
fn repeats(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.values().any(repeats),
        Value::Array(elements) => {
            let same = |one: &Value, other: &Value| {
                let keys = ["name", "mountPath", "containerPort"];
                one == other
                    || keys
                        .iter()
                        .any(|key| one.get(key).is_some() && one.get(key) == other.get(key))
            };
            let pairs = elements.iter().enumerate();
            let twice = |(at, one): (usize, &Value)| elements[..at].iter().any(|other| same(one, other));
            pairs.into_iter().any(twice) || elements.iter().any(repeats)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn has_directive(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| Directive::of(name).is_some() || has_directive(value)),
        Value::Array(elements) => elements.iter().any(has_directive),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn a_patch_that_says_nothing_changes_nothing(kind in kind(), original in object()) {
        prop_assert_eq!(merge(kind, &original, &Map::new()), Ok(original));
    }

    #[test]
    fn nothing_that_is_sent_panics_and_no_directive_is_left(
        kind in kind(),
        original in object(),
        patch in object(),
    ) {
        let plain = !has_directive(&Value::Object(original.clone()));
        if let Ok(merged) = merge(kind, &original, &patch) {
            prop_assert!(!plain || !has_directive(&Value::Object(merged)));
        }
    }

    #[test]
    fn no_patch_of_a_job_panics(
        spec in object(),
        changes in object(),
        remove in prop::collection::vec(".{0,12}", 0..3),
        allow in any::<bool>(),
    ) {
        let patch = Patch {
            job_spec: Some(changes.into()),
            remove: Some(remove),
            allow_new: Some(allow),
            ..Patch::default()
        };
        let _ = apply(&spec, &patch, &FieldPath::root());
    }

    #[test]
    fn a_patch_without_an_order_says_the_same_thing_twice(
        kind in kind(),
        original in object(),
        patch in object(),
    ) {
        prop_assume!(!says_order(&Value::Object(patch.clone())) && !repeats(&Value::Object(patch.clone())));
        prop_assume!(!has_directive(&Value::Object(original.clone())));
        // A `$patch` where nothing is drops its value; where something is, it doesn't.
        prop_assume!(!directive::has_patch_inside(&Value::Object(patch.clone())) && !patch.contains_key("$patch"));
        let Ok(once) = merge(kind, &original, &patch) else { return Ok(()) };
        // A list where there was none is taken as it is; what is wrong with it shows the second time.
        let Ok(twice) = merge(kind, &once, &patch) else { return Ok(()) };
        prop_assert_eq!(twice, once);
    }
}
