//! The merge keys that patches go by are those of Kubernetes' own sources, in the version that the tests run.
//!
//! Reads the Go types of core/v1 and meta/v1 from the module that the control plane is built from, and compares their
//! tags with the ones that are committed beside jobflow-k8s; `UPDATE_GENERATED=1` writes those anew.

#![expect(clippy::unwrap_used, reason = "tests may unwrap")]

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value};

/// Types by name, each with its fields in the order of the source.
type Types = BTreeMap<String, Vec<GoField>>;

/// A field of a Go struct.
struct GoField {
    of: String,
    tags: String,
}

impl GoField {
    /// Reads a line of a struct; an embedded type has no name.
    fn of(line: &str) -> Option<Self> {
        let (code, tags) = line.split_once('`')?;
        let of = code.split_whitespace().last()?;
        Some(Self {
            of: of.to_owned(),
            tags: tags.trim_end().trim_end_matches('`').to_owned(),
        })
    }

    fn tag(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.tags.split_once(&format!("{name}:\""))?;
        rest.split_once('"').map(|(value, _)| value)
    }

    /// The type of the field, or of its elements.
    fn inner(&self) -> &str {
        self.of
            .trim_start_matches('*')
            .trim_start_matches("[]")
            .trim_start_matches('*')
            .trim_start_matches("metav1.")
    }

    fn is_list(&self) -> bool {
        self.of.trim_start_matches('*').starts_with("[]")
    }
}

fn types(file: &Path) -> Types {
    let mut types = Types::new();
    let mut current = None;
    for line in fs::read_to_string(file).unwrap().lines() {
        if let Some(name) = line
            .strip_prefix("type ")
            .and_then(|rest| rest.strip_suffix(" struct {"))
        {
            current = Some(name.to_owned());
        } else if line.starts_with('}') {
            current = None;
        } else if let (Some(name), Some(field)) = (&current, GoField::of(line)) {
            types.entry(name.clone()).or_default().push(field);
        }
    }
    types
}

/// The folder of a Go module of the control plane.
fn module(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cluster/kubernetes");
    let go = |arguments: &[&str]| {
        Command::new("go")
            .args(arguments)
            .current_dir(&folder)
            .output()
            .unwrap()
    };
    let downloaded = go(&["mod", "download", name]);
    assert!(
        downloaded.status.success(),
        "{}",
        String::from_utf8_lossy(&downloaded.stderr)
    );
    let listed = go(&["list", "-m", "-f", "{{.Dir}}", name]);
    PathBuf::from(String::from_utf8(listed.stdout).unwrap().trim())
}

/// What is committed of a type and of all that it holds: fields that are structs or lists, with their tags.
fn facts(types: &Types, name: &str, facts: &mut Map<String, Value>) {
    if facts.contains_key(name) || !types.contains_key(name) {
        return;
    }
    facts.insert(name.to_owned(), Value::Null);
    let mut rows = Map::new();
    rows_of(types, name, &mut rows, facts);
    facts.insert(name.to_owned(), Value::Object(rows));
}

fn rows_of(types: &Types, name: &str, rows: &mut Map<String, Value>, all: &mut Map<String, Value>) {
    for field in &types[name] {
        let Some(json) = field.tag("json") else { continue };
        let json_name = json.split(',').next().unwrap_or_default();
        if json_name.is_empty() || json.contains(",inline") {
            if types.contains_key(field.inner()) {
                rows_of(types, field.inner(), rows, all);
            }
            continue;
        }
        let mut row = Map::new();
        if types.contains_key(field.inner()) {
            row.insert("of".to_owned(), field.inner().into());
            facts(types, field.inner(), all);
        }
        if field.is_list() {
            row.insert("list".to_owned(), true.into());
        }
        for (tag, name) in [("patchStrategy", "strategy"), ("patchMergeKey", "key")] {
            if let Some(value) = field.tag(tag) {
                row.insert(name.to_owned(), value.into());
            }
        }
        if !row.is_empty() {
            rows.insert(json_name.to_owned(), Value::Object(row));
        }
    }
}

#[test]
fn the_committed_tags_are_those_of_the_sources() {
    let mut all = types(&module("k8s.io/api").join("core/v1/types.go"));
    all.extend(types(
        &module("k8s.io/apimachinery").join("pkg/apis/meta/v1/types.go"),
    ));
    let mut found = Map::new();
    facts(&all, "PodTemplateSpec", &mut found);
    found.retain(|_, rows| rows.as_object().is_some_and(|rows| !rows.is_empty()));
    if env::var_os("UPDATE_GENERATED").is_some() {
        fs::write(committed_file(), text(&found)).unwrap();
    }
    let committed: Map<String, Value> =
        serde_json::from_str(&fs::read_to_string(committed_file()).unwrap()).unwrap();
    for (name, rows) in &found {
        assert_eq!(committed.get(name), Some(rows), "{name}");
    }
    assert_eq!(found.len(), committed.len());
}

fn committed_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../jobflow-k8s/tests/data/core-v1-patch-tags.json")
}

/// A line a field.
fn text(types: &Map<String, Value>) -> String {
    let row = |(name, row): (&String, &Value)| format!("    {}: {row}", Value::from(name.as_str()));
    let rows = |rows: &Value| {
        rows.as_object()
            .unwrap()
            .iter()
            .map(row)
            .collect::<Vec<_>>()
            .join(",\n")
    };
    let texts: Vec<String> = types
        .iter()
        .map(|(name, fields)| format!("  \"{name}\": {{\n{}\n  }}", rows(fields)))
        .collect();
    format!("{{\n{}\n}}\n", texts.join(",\n"))
}
