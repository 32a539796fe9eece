//! The image: what its file copies, builds and starts is there. Whether a container engine likes it is not seen here.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::rendering::{objects, of_kind, root};

/// An instruction, on one line, and what it is about.
type Instruction = (String, String);

/// The instructions in their order; lines that go on are one, and comments are none.
fn instructions() -> Vec<Instruction> {
    let text = std::fs::read_to_string(root().join("deploy/Dockerfile")).unwrap();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let mut joined = String::new();
    for line in lines {
        match line.strip_suffix('\\') {
            Some(part) => joined.push_str(part),
            None => {
                joined.push_str(line);
                joined.push('\n');
            }
        }
    }
    let split = |line: &str| {
        line.split_once(' ')
            .map(|(word, rest)| (word.into(), rest.into()))
    };
    joined.lines().filter_map(split).collect()
}

fn of<'a>(all: &'a [Instruction], word: &str) -> Vec<&'a str> {
    let of_word = all.iter().filter(|(found, _)| found == word);
    of_word.map(|(_, rest)| rest.as_str()).collect()
}

/// The commands of all `RUN`s, in words.
fn commands(all: &[Instruction]) -> Vec<Vec<String>> {
    let commands = of(all, "RUN").into_iter().flat_map(|run| run.split("&&"));
    let words = |command: &str| command.split_whitespace().map(str::to_owned).collect();
    commands.map(words).collect()
}

/// What follows `cargo build`.
fn build(all: &[Instruction]) -> Vec<String> {
    let commands = commands(all);
    let mut builds = commands
        .iter()
        .filter(|words| words.starts_with(&["cargo".into(), "build".into()]));
    let build = builds.next().unwrap();
    assert!(builds.next().is_none(), "one build is enough");
    build[2..].to_vec()
}

fn value<'a>(arguments: &'a [String], option: &str) -> &'a str {
    let at = arguments.iter().position(|argument| argument == option).unwrap();
    &arguments[at + 1]
}

fn succeeded(output: &Output) {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// What is in the repository and not kept from the image, as `COPY . .` finds it.
fn copy_context(to: &Path) {
    let ignored = std::fs::read_to_string(root().join(".dockerignore")).unwrap();
    let listed = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root())
        .output()
        .unwrap();
    succeeded(&listed);
    for path in String::from_utf8(listed.stdout).unwrap().split_terminator('\0') {
        if ignored.lines().any(|line| path.split('/').next() == Some(line)) {
            continue;
        }
        let (from, to) = (root().join(path), to.join(path));
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        // A file that is removed and not committed yet is still listed.
        if from.exists() {
            std::fs::copy(from, to).unwrap();
        }
    }
}

#[test]
fn it_is_built_with_the_rust_that_the_workspace_asks_for() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let version = manifest
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = "));
    let version = version.unwrap().trim_matches('"');
    let all = instructions();
    assert_eq!(
        of(&all, "FROM"),
        [format!("rust:{version}-alpine AS build"), "scratch".to_owned()]
    );
}

/// `cargo clean --dry-run` takes the arguments of a build, and refuses a package, a profile or a lock file that a build
/// would refuse.
#[test]
fn what_it_copies_is_all_that_its_build_needs() {
    let all = instructions();
    assert_eq!(of(&all, "COPY")[0], ". .");
    let folder = tempfile::tempdir().unwrap();
    copy_context(folder.path());
    for command in commands(&all) {
        if let [program, force, file] = command.as_slice()
            && (program.as_str(), force.as_str()) == ("rm", "-f")
        {
            std::fs::remove_file(folder.path().join(file)).unwrap();
        }
    }
    let cargo = |arguments: &[String]| {
        let mut command = Command::new(env!("CARGO"));
        command.args(["clean", "--dry-run", "--offline"]).args(arguments);
        command.current_dir(folder.path()).output().unwrap()
    };
    let build = build(&all);
    succeeded(&cargo(&build));
    for wrong in [value(&build, "--package"), value(&build, "--profile")] {
        let wrong: Vec<String> = build.iter().map(|word| word.replace(wrong, "no-such")).collect();
        assert!(!cargo(&wrong).status.success(), "{wrong:?} is told apart");
    }
}

#[test]
fn what_it_starts_is_what_it_built() {
    let all = instructions();
    let build = build(&all);
    let (profile, package) = (value(&build, "--profile"), value(&build, "--package"));
    let built = format!("target/{profile}/{package}");
    let (commands, copies) = (commands(&all), of(&all, "COPY"));
    let copied = commands.iter().find(|words| words[0] == "cp").unwrap();
    assert_eq!(copied[1..], [built, "/image/".to_owned()]);
    assert_eq!(copies[1], format!("--from=build /image/{package} /{package}"));
    assert_eq!(of(&all, "ENTRYPOINT"), [format!("[\"/{package}\"]")]);
    let tried = commands
        .iter()
        .find(|words| words[0] == format!("/image/{package}"))
        .unwrap();
    let program = env!("CARGO_BIN_EXE_jobflow-controller");
    assert_eq!(Path::new(program).file_name().unwrap(), package);
    succeeded(&Command::new(program).args(&tried[1..]).output().unwrap());
}

#[test]
fn the_chart_runs_it_as_the_user_and_with_the_ports_that_it_names() {
    let all = instructions();
    let objects = objects(&[]);
    let pod = &of_kind(&objects, "Deployment")[0]["spec"]["template"]["spec"];
    let id = |field: &str| pod["securityContext"][field].as_u64().unwrap();
    let user = format!("{}:{}", id("runAsUser"), id("runAsGroup"));
    assert_eq!(of(&all, "USER"), [user]);
    let ports = pod["containers"][0]["ports"].as_array().unwrap();
    let number = |port: &Value| port["containerPort"].to_string();
    let mut ports: Vec<String> = ports.iter().map(number).collect();
    ports.sort();
    assert_eq!(of(&all, "EXPOSE"), [ports.join(" ")]);
}
