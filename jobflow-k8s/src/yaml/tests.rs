use serde_json::json;

use super::*;

fn path(text: &str) -> FieldPath {
    text.parse().unwrap()
}

fn faults(text: &str) -> Vec<String> {
    let reading = read("f", text);
    let unrendered = reading.documents.iter().flat_map(Document::unrendered);
    reading
        .faults
        .iter()
        .cloned()
        .chain(unrendered)
        .map(|fault| fault.to_string())
        .collect()
}

fn only(text: &str) -> Value {
    let reading = read("f", text);
    assert_eq!(reading.faults, [], "{text}");
    assert_eq!(reading.documents.len(), 1, "{text}");
    reading.documents[0].value.clone()
}

#[test]
fn scalars_are_read_as_kubectl_reads_them() {
    for (text, value) in [
        ("yes", json!(true)),
        ("on", json!(true)),
        ("Off", json!(false)),
        ("0644", json!(420)),
        ("0700", json!(448)),
        ("1_000", json!(1000)),
        ("\"1\"", json!("1")),
        ("1.5", json!(1.5)),
        ("1e3", json!(1000)),
        ("1.0", json!(1)),
        ("~", json!(null)),
        ("500m", json!("500m")),
        ("2024-01-01", json!("2024-01-01")),
        ("18446744073709551615", json!(18_446_744_073_709_551_615_u64)),
        ("0x10", json!(16)),
        ("-0644", json!(-420)),
        ("12:30:45", json!("12:30:45")),
        ("0", json!(0)),
        ("08", json!(8)),
    ] {
        assert_eq!(only(&format!("a: {text}\n")), json!({ "a": value }), "{text}");
    }
}

#[test]
fn json_is_read_with_its_places() {
    let text = "{\n\t\"kind\": \"JobFlow\",\n\t\"spec\": {\"flows\": [{\"name\": \"a\"}]}\n}\n";
    let reading = read("f.json", text);
    assert_eq!(reading.faults, []);
    let place = reading.documents[0].place(&path("spec.flows[0].name")).unwrap();
    assert_eq!(place.to_string(), "f.json:3:22");
}

#[test]
fn places_are_those_of_the_keys() {
    let reading = read("f", "# x\n---\na:\n  - b: 1\n    c: {d: 2}\n");
    let document = &reading.documents[0];
    for (at, place) in [
        ("a", "f:3:1"),
        ("a[0]", "f:4:5"),
        ("a[0].c", "f:5:5"),
        ("a[0].c.d", "f:5:9"),
        ("a[0].c.missing", "f:5:5"),
        ("a[7].x", "f:3:1"),
    ] {
        assert_eq!(document.place(&path(at)).unwrap().to_string(), place, "{at}");
    }
    assert_eq!(document.line(5), Some("    c: {d: 2}"));
}

#[test]
fn aliases_and_merges_have_places() {
    let text = "base: &b {image: x, pull: y}\na: *b\nc:\n  <<: *b\n  pull: z\n";
    let reading = read("f", text);
    let document = &reading.documents[0];
    assert_eq!(document.value["c"], json!({ "image": "x", "pull": "z" }));
    for (at, place) in [
        ("a", "f:2:1"),
        ("a.image", "f:1:11"),
        ("c.image", "f:4:3"),
        ("c.pull", "f:5:3"),
    ] {
        assert_eq!(document.place(&path(at)).unwrap().to_string(), place, "{at}");
    }
}

#[test]
fn crlf_texts_are_read_like_others() {
    let reading = read("f", "a: 1\r\n---\r\nb: |\r\n  x\r\n  y\r\n");
    assert_eq!(reading.faults, []);
    assert_eq!(reading.documents[1].value, json!({ "b": "x\ny\n" }));
    assert_eq!(
        reading.documents[1].place(&path("b")).unwrap().to_string(),
        "f:3:1"
    );
}

#[test]
fn a_fault_in_one_document_hides_nothing_of_the_others() {
    let reading = read("f", "a: [1\n---\nb: 2\n---\nc: 1\nc: 2\n---\n\"d\n");
    assert_eq!(
        reading
            .documents
            .iter()
            .map(|document| &document.value)
            .collect::<Vec<_>>(),
        [&json!({ "b": 2 }), &json!({ "c": 2 })]
    );
    let lines: Vec<_> = reading
        .faults
        .iter()
        .map(|f| (f.code, f.place.as_ref().unwrap().position.line))
        .collect();
    assert_eq!(lines.len(), 3, "{:?}", reading.faults);
    assert_eq!(lines[1], (Code::DuplicateKey, 6));
}

#[test]
fn every_key_that_stands_twice_is_reported() {
    assert_eq!(
        faults("a: 1\nb:\n- c: 1\n  c: 2\na: 3\n"),
        [
            "f:4:3: error[duplicate-key]: b[0].c: the key `c` stands twice \
         (kubectl would silently take the last one; keep one of them)",
            "f:5:1: error[duplicate-key]: a: the key `a` stands twice \
         (kubectl would silently take the last one; keep one of them)",
        ]
    );
}

#[test]
fn an_object_that_stands_twice_is_reported() {
    let object = "kind: JobTemplate\nmetadata: {name: a}\n";
    assert_eq!(
        faults(&format!("{object}---\n{object}")),
        [
            "f:5:12: error[duplicate-object]: metadata.name: JobTemplate a stands twice (the first is at f:2:12)"
        ]
    );
    let others =
        "kind: JobTemplate\nmetadata: {name: a, namespace: x}\n---\nkind: Job\nmetadata: {name: a}\n";
    assert_eq!(faults(&format!("{object}---\n{others}")), [""; 0]);
}

#[test]
fn a_list_gives_its_items_with_their_places() {
    let text = "apiVersion: v1\nkind: List\nitems:\n- kind: A\n  x: 1\n- kind: B\n- null\n";
    let reading = read("f", text);
    let kinds: Vec<_> = reading.documents.iter().filter_map(Document::kind).collect();
    assert_eq!(kinds, ["A", "B"]);
    assert_eq!(
        reading.documents[0].place(&path("x")).unwrap().to_string(),
        "f:5:3"
    );
    assert_eq!(reading.documents[1].index, 1);
}

#[test]
fn texts_that_have_to_be_rendered_first_are_refused() {
    let help = "this is a template, not a manifest";
    for (text, fault) in [
        (
            "a:\n  image: {{ .Values.image }}\n",
            "f:2:10: error[unrendered]: a Helm placeholder",
        ),
        (
            "image: \"{{ .Values.image }}\"\n",
            "f:1:1: error[unrendered]: image: a Helm placeholder",
        ),
        (
            "{{- if .Values.on }}\na: 1\n{{- end }}\n",
            "f:1:1: error[unrendered]: a Helm placeholder",
        ),
        (
            "args: [\"{{ .Values.x }}\"]\n",
            "f:1:8: error[unrendered]: args[0]: a Helm placeholder",
        ),
        (
            "replicas: <$ N $>\n",
            "f:1:1: error[unrendered]: replicas: a `<$ … $>` placeholder",
        ),
        (
            "a: 1\n${LABELS}\nb: 2\n",
            "f:2:1: error[unrendered]: a envsubst placeholder",
        ),
        (
            "spec:\n  ${SPEC}\n",
            "f:1:1: error[unrendered]: spec: a envsubst placeholder",
        ),
        (
            "name: {{ name }}\n",
            "f:1:7: error[unrendered]: a Jinja placeholder",
        ),
    ] {
        let found = faults(text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(
            found[0].starts_with(fault) && found[0].contains(help),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn programs_may_hold_braces() {
    for text in [
        "command: [docker, ps, --format, \"{{.Names}}\"]\n",
        "args:\n- |\n  echo ${HOME} {{ x }}\n",
        "script: |\n  ${A}\n",
        "env: [{name: a, value: \"${B}\"}]\n",
        "replicas: ${{ params.n }}\n",
    ] {
        assert_eq!(faults(text), [""; 0], "{text}");
    }
}

#[test]
fn a_foreign_comment_and_a_tab_are_explained() {
    let found = faults("a: 1\n// not a comment\nb: 2\n");
    assert!(
        found[0].starts_with("f:2:") && found[0].ends_with("(`//` begins no comment in YAML; use `#`)"),
        "{found:?}"
    );
    let found = faults("a:\n\tb: 1\n");
    assert!(
        found[0].ends_with("(a tab can't indent YAML; use spaces)"),
        "{found:?}"
    );
}

#[test]
fn hostile_texts_end_in_one_fault() {
    let deep = "[".repeat(100_000);
    let deep_block = (0..2000)
        .map(|depth| format!("{}a:\n", " ".repeat(depth)))
        .collect::<String>();
    let wide = format!("[{}]", "a,".repeat(550_000));
    let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    let mut tower = format!("a0: &a0 {}x{}\n", "[".repeat(60), "]".repeat(60));
    for level in 1..20 {
        let below = level - 1;
        bomb += &format!("a{level}: &a{level} [{}]\n", format!("*a{below},").repeat(10));
        tower += &format!(
            "a{level}: &a{level} {}*a{below}{}\n",
            "[".repeat(60),
            "]".repeat(60)
        );
    }
    let large = format!("a: \"{}\"", "x".repeat(MOST_BYTES));
    for text in [deep.as_str(), &deep_block, &wide, &bomb, &tower, &large] {
        let found = read("f", text);
        let start: String = text.chars().take(20).collect();
        assert_eq!(found.faults.len(), 1, "{start}");
        assert_eq!(found.documents, [], "{start}");
    }
}

#[test]
fn numbers_out_of_all_bounds_are_no_numbers() {
    for text in ["a: .inf\n", "a: .nan\n", "a: 1e999\n"] {
        assert_eq!(read("f", text).documents, [], "{text}");
    }
}

#[test]
fn nesting_up_to_the_bound_is_read() {
    let text = format!("{}x{}", "[".repeat(MOST_DEPTH), "]".repeat(MOST_DEPTH));
    assert_eq!(read("f", &text).faults, []);
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "[-a:{}\\[\\],&*#|> \\n\\t\"'%$<.0-9]{0,80}") {
        let reading = read("f", &text);
        for document in &reading.documents {
            let _ = document.unrendered();
        }
    }
}
