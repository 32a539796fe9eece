//! What is generated from the types equals what is committed; `UPDATE_GENERATED=1` writes it anew.

use std::path::{Path, PathBuf};

use jobflow_k8s::{crd, schema};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn check(path: &str, generated: &str) {
    let file = repository(path);
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        let written = file
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(&file, generated));
        assert!(written.is_ok(), "{path}: {written:?}");
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == generated,
        "{path} is not what the types say: run the test with UPDATE_GENERATED=1"
    );
}

#[test]
fn committed_definitions_are_those_of_the_types() {
    for (file, definition) in crd::definitions() {
        check(
            &format!("deploy/crds/{file}"),
            &serde_saphyr::to_string(&definition).unwrap(),
        );
    }
}

#[test]
fn committed_schemas_are_those_of_the_types() {
    for (file, schema) in schema::files(&schema::Schemas::new()) {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        check(&format!("docs/reference/schema/{file}"), &text);
    }
}
