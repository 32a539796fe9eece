//! What is generated from the program equals what is committed; `UPDATE_GENERATED=1` writes it anew.

#[test]
fn the_committed_reference_is_what_the_program_says() {
    check("cli.md", &jobflow_cli::reference());
}

#[cfg(feature = "cluster")]
#[test]
fn the_committed_reference_of_the_plugin_is_what_it_says() {
    check("kubectl-jobflow.md", &jobflow_cli::cluster_reference());
}

fn check(file: &str, generated: &str) {
    let path = format!("{}/../docs/reference/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(&path, generated).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == generated,
        "docs/reference/{file} is not what the program says: run the test with UPDATE_GENERATED=1"
    );
}
