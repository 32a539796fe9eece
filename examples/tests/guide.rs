//! What the README and the guide show is valid, and what they link to is there.

#![expect(clippy::unwrap_used, reason = "a test says so when something is missing")]

use std::fs;
use std::path::{Path, PathBuf};

use jobflow_k8s::parse::{Known, parse_document};
use jobflow_k8s::schema::Schemas;
use jobflow_k8s::yaml;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The pages that people read first.
fn pages() -> Vec<PathBuf> {
    let in_folder = |folder: PathBuf| fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut pages: Vec<PathBuf> = in_folder(root().to_owned())
        .chain(in_folder(root().join("docs/guide")))
        .filter(|file| file.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.extend(
        [
            "hello",
            "diamond",
            "arithmetic",
            "parameter-server",
            "gated-service",
            "most-of-it",
            "bucket",
            "sweep",
        ]
        .map(|example| root().join("examples").join(example).join("README.md")),
    );
    pages.sort();
    pages
}

/// The blocks of a page that are YAML; one that begins with `spec` is the spec of a flow.
fn manifests(page: &str) -> Vec<String> {
    let blocks = page.split("```yaml\n").skip(1);
    let texts = blocks.map(|block| block.split("```").next().unwrap());
    texts
        .map(|text| match text.starts_with("spec:") {
            true => format!(
                "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {{name: shown}}\n{text}"
            ),
            false => text.to_owned(),
        })
        .collect()
}

/// Everything that is wrong with a manifest.
fn faults(text: &str) -> Vec<String> {
    let schemas = Schemas::new();
    let reading = yaml::read("shown", text);
    let mut faults = reading.faults;
    for document in &reading.documents {
        let is_flow = document.value["kind"] == "JobFlow";
        faults.extend(match parse_document(&schemas, document, Known::default()) {
            Ok(flow) => flow.warnings,
            Err(faults) if is_flow => faults,
            Err(_) => schemas.check_document(document),
        });
    }
    faults.iter().map(ToString::to_string).collect()
}

#[test]
fn every_manifest_that_is_shown_is_valid() {
    let mut shown = 0;
    for page in pages() {
        for text in manifests(&fs::read_to_string(&page).unwrap()) {
            shown += 1;
            assert_eq!(faults(&text), [""; 0], "{}:\n{text}", page.display());
        }
    }
    assert!(shown >= 10, "only {shown} were found");
}

#[test]
fn every_link_to_a_file_leads_somewhere() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let links = text
            .split("](")
            .skip(1)
            .map(|rest| rest.split(')').next().unwrap());
        for link in links.filter(|link| !link.starts_with("http")) {
            let target = page.parent().unwrap().join(link);
            assert!(target.exists(), "{}: {link}", page.display());
        }
    }
}
