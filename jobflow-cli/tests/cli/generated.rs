//! What is generated from the program equals what is committed; `UPDATE_GENERATED=1` writes it anew.

#[test]
fn the_committed_reference_is_what_the_program_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/cli.md");
    let generated = jobflow_cli::reference();
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(path, &generated).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == generated,
        "docs/reference/cli.md is not what the program says: run the test with UPDATE_GENERATED=1"
    );
}
