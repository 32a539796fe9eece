//! What holds for every command: streams, colours, widths, wrong uses.

use std::io::Read;
use std::process::{Command, Stdio};

use crate::world::{Ran, World};

#[test]
fn a_wrong_use_is_wrong_input_with_a_suggestion() {
    let world = World::new();
    insta::assert_snapshot!("misspelt_command", world.run(&["valdate", "x"]).shown());
    insta::assert_snapshot!("missing_argument", world.run(&["run"]).shown());
    assert_eq!(world.run(&[]).code, 2);
}

#[test]
fn help_is_data() {
    let world = World::new();
    for arguments in [vec!["--help"], vec!["help", "run"], vec!["logs", "-h"]] {
        let ran = world.run(&arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
        assert!(ran.stdout.contains("Usage: jobflow"), "{arguments:?}");
    }
    assert!(world.run(&["--help"]).stdout.contains("130  interrupted"));
}

#[test]
fn colours_come_only_when_they_are_wanted() {
    let world = World::with("a.yaml", "a: [");
    let is_coloured = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = world.command(arguments);
        command.envs(variables.iter().copied());
        Ran::of(&mut command).stderr.contains('\u{1b}')
    };
    assert!(!is_coloured(&["validate", "a.yaml"], &[]));
    assert!(is_coloured(
        &["validate", "a.yaml", "--color", "always"],
        &[("NO_COLOR", "1")]
    ));
    assert!(!is_coloured(
        &["--color=never", "validate", "a.yaml"],
        &[("CLICOLOR_FORCE", "1")]
    ));
    assert!(is_coloured(&["validate", "none.yaml", "--color=always"], &[]));
}

#[test]
fn a_reader_that_goes_away_ends_a_command_quietly() {
    for arguments in [
        ["crd", "--color=auto"],
        ["schema", "jobflow"],
        ["completions", "bash"],
        ["help", "run"],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_jobflow"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(
            (child.wait().unwrap().code(), said.as_str()),
            (Some(0), ""),
            "{arguments:?}"
        );
    }
}

#[test]
fn a_full_disk_is_told() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_jobflow"))
        .arg("crd")
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.starts_with("error: cannot write to the standard output\n  because: No space left"),
        "{said}"
    );
}
