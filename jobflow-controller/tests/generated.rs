//! What is generated from the program equals what is committed; `UPDATE_GENERATED=1` writes it anew.

#![expect(clippy::unwrap_used, reason = "a test that can not go on fails")]

use jobflow_controller::findings::rights;

fn check(path: &str, generated: &str) {
    let path = format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(&path, generated).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == generated,
        "{path} is not what the program says: run the test with UPDATE_GENERATED=1"
    );
}

#[test]
fn the_committed_reference_is_what_the_program_says() {
    check("docs/reference/controller.md", &jobflow_controller::reference());
}

#[test]
fn the_committed_rights_are_what_the_program_needs() {
    check("deploy/rights.txt", &rights::listed());
}
