//! `jobflow run`, with real processes.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::world::{Ran, World};

/// A flow of entries `name: command`, each after the one before.
pub(crate) fn chain(entries: &[(&str, &str)]) -> String {
    let mut text =
        "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: chain}\nspec:\n  flows:\n"
            .to_owned();
    for (at, (name, command)) in entries.iter().enumerate() {
        let targets = at.checked_sub(1).map_or("", |before| entries[before].0);
        let command = Value::from(*command);
        text.push_str(&format!(
            "  - name: {name}\n    dependsOn: {{targets: [{targets}]}}\n    jobSpec:\n      tasks:\n      - name: main\n        \
             replicas: 1\n        template: {{spec: {{restartPolicy: Never, containers: [{{name: main, image: x, \
             command: [sh, -c, {command}]}}]}}}}\n"
        ));
    }
    text
}

fn events(stdout: &str) -> Vec<Value> {
    stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_flow_that_succeeds_ends_with_0() {
    let world = World::with("flow.yaml", &chain(&[("a", "echo one"), ("b", "echo two")]));
    let ran = world.run(&["run", "flow.yaml", "-o", "json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    let events = events(&ran.stdout);
    let (first, last) = (&events[0], &events[events.len() - 1]);
    assert_eq!(
        (&first["event"], &first["resumed"]),
        (&"began".into(), &false.into())
    );
    assert_eq!(
        (&last["outcome"], &last["progress"]),
        (&"succeeded".into(), &"2/2".into())
    );
    assert_eq!(world.run(&["logs", "b"]).stdout, "two\n");
    assert!(world.run(&["status"]).stdout.starts_with("chain  Succeed  2/2"));
}

#[test]
fn a_flow_that_fails_ends_with_1_and_says_why() {
    let world = World::with("flow.yaml", &chain(&[("a", "exit 3"), ("b", "true")]));
    let ran = world.run(&["run", "flow.yaml"]);
    assert_eq!(ran.code, 1, "{}", ran.shown());
    assert!(ran.stdout.starts_with("chain  Failed  2/2"), "{}", ran.stdout);
    assert!(ran.stdout.contains("exit code 3"), "{}", ran.stdout);
    assert!(ran.stdout.contains("a target failed"), "{}", ran.stdout);
    assert!(ran.stderr.contains("a: Failed (the job failed"), "{}", ran.stderr);
}

/// What a run ends with, below its table; then where there is more, without the run's name.
fn ending(ran: &Ran) -> String {
    let output: Vec<&str> = ran
        .stdout
        .lines()
        .skip_while(|line| !line.is_empty())
        .skip(1)
        .collect();
    let logs = ran
        .stderr
        .lines()
        .filter_map(|line| line.split_once("jobflow logs "));
    let more: Vec<String> = logs
        .map(|(said, logs)| format!("{said}jobflow logs RUN {}", logs.split_once(' ').unwrap().1))
        .collect();
    format!("{}\n--- more\n{}", output.join("\n"), more.join("\n"))
}

#[test]
fn a_run_ends_with_what_its_last_entries_wrote() {
    let flow = chain(&[("a", "echo one"), ("b", "seq 12; printf 'no\\033end'")]);
    let world = World::with("flow.yaml", &flow);
    let ran = world.run(&["run", "flow.yaml"]);
    assert!(
        ran.stdout
            .ends_with("\n\nb:\n4\n5\n6\n7\n8\n9\n10\n11\n12\nno\u{1b}end\n"),
        "{}",
        ran.shown()
    );
    assert!(world.run(&["run", "--resume"]).stdout.ends_with("no\u{1b}end\n"));
    let quiet = world.run(&["run", "flow.yaml", "--no-output"]);
    assert!(!quiet.stdout.contains("12\n"), "{}", quiet.stdout);
}

#[test]
fn a_run_that_fails_ends_with_what_the_failed_entries_wrote() {
    let world = World::with(
        "flow.yaml",
        &chain(&[("a", "echo broken >&2; exit 3"), ("b", "true")]),
    );
    let ran = world.run(&["run", "flow.yaml"]);
    insta::assert_snapshot!(ending(&ran), @r"
    a:
    broken
    --- more
    all that a wrote: jobflow logs RUN a
    ");
    let json = world.run(&["run", "flow.yaml", "-o", "json"]);
    assert!(!json.shown().contains("broken"), "{}", json.stdout);
}

#[test]
fn a_flow_that_is_wrong_starts_nothing() {
    let text = chain(&[("a", "true")]).replace("dependsOn", "dependOn");
    let world = World::with("flow.yaml", &text);
    let ran = world.run(&["run", "flow.yaml"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("did you mean `dependsOn`?"), "{}", ran.stderr);
    assert!(!world.path().join("state").exists());
}

#[test]
fn every_missing_template_is_told_with_its_place() {
    let flow = "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f}\nspec:\n  flows:\n  \
                - name: a\n  - name: b\n    template: none\n";
    let ran = World::with("flow.yaml", flow).run(&["run", "flow.yaml"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    insta::assert_snapshot!(ran.stderr, @r"
    error[unknown-reference]: entry `a`: there is no JobTemplate `a`
     --> flow.yaml:6:5
      |
    6 |   - name: a
      |     ^^^^ spec.flows[0].name
      |
      = help: name the file that holds it too, or write the job here as `jobSpec`

    error[unknown-reference]: entry `b`: there is no JobTemplate `none`
     --> flow.yaml:8:5
      |
    8 |     template: none
      |     ^^^^^^^^ spec.flows[1].template
      |
      = help: name the file that holds it too, or write the job here as `jobSpec`
    ");
}

#[test]
fn arguments_that_make_no_sense_start_nothing() {
    let world = World::with("flow.yaml", &chain(&[("a", "true")]));
    for arguments in [
        &["--cpus", "many"][..],
        &["--map", "data=none"],
        &["--flow", "other"],
        &["--jobs", "0"],
        &["--resume"],
        &["--command", "main"],
    ] {
        let ran = world.run(&[&["run", "flow.yaml"], arguments].concat());
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.shown());
    }
    assert!(!world.path().join("state").exists());
}

#[test]
fn a_state_folder_that_can_not_be_made_ends_with_3() {
    let world = World::with("flow.yaml", &chain(&[("a", "true")])).and("state", "");
    let ran = world.run(&["run", "flow.yaml"]);
    assert_eq!(ran.code, 3, "{}", ran.shown());
}

#[test]
fn a_new_flow_runs_as_it_is() {
    let world = World::new();
    let flow = world.run(&["new"]).stdout;
    let ran = Ran::of(world.command(&["run", "-"]).write_stdin(flow));
    assert_eq!(ran.code, 0, "{}", ran.shown());
}

/// A run whose first task runs.
pub(crate) fn begun(world: &World, arguments: &[&str]) -> Child {
    let child = Command::new(env!("CARGO_BIN_EXE_jobflow"))
        .args(arguments)
        .current_dir(world.path())
        .env("JOBFLOW_STATE_DIR", world.path().join("state"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !world.run(&["status"]).stdout.contains("Running  ") {
        assert!(begun.elapsed() < Duration::from_secs(20), "it never ran");
        std::thread::sleep(Duration::from_millis(50));
    }
    child
}

pub(crate) fn kill(signal: &str, process: &str) {
    assert!(
        Command::new("kill")
            .args([signal, process])
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn an_interrupted_run_ends_with_130_and_goes_on_with_resume() {
    let world = World::with("flow.yaml", &chain(&[("a", "test -e go || sleep 60")]));
    let child = begun(&world, &["run", "flow.yaml", "--grace", "1"]);
    kill("-INT", &child.id().to_string());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(
        said.contains("interrupted; go on with: jobflow run --resume"),
        "{said}"
    );

    let world = world.and("go", "");
    let ran = world.run(&["run", "--resume", "-o", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert_eq!(events(&ran.stdout)[0]["resumed"], true);
}

/// Two runs with state folders of their own, as two people would have: pods of both may listen at the same port.
#[test]
fn pods_of_runs_side_by_side_have_addresses_of_their_own() {
    let command = "echo $POD_IP > ip.tmp; mv ip.tmp ip; while ! test -e go; do sleep 0.05; done";
    let env = "env: [{name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}], command";
    let flow = chain(&[("a", command)]).replace("command", env);
    let runs = [(), ()].map(|()| {
        let world = World::with("flow.yaml", &flow);
        let child = begun(&world, &["run", "flow.yaml"]);
        (world, child)
    });
    let address = |world: &World| {
        let asked = Instant::now();
        loop {
            if let Ok(address) = std::fs::read_to_string(world.path().join("ip")) {
                return address;
            }
            assert!(
                asked.elapsed() < Duration::from_secs(20),
                "it never wrote its address"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let [one, other] = [&runs[0].0, &runs[1].0].map(address);
    assert!(
        one.starts_with("127.") && other.starts_with("127."),
        "{one} {other}"
    );
    assert_ne!(one, other);
    for (world, child) in runs {
        let world = world.and("go", "");
        assert!(child.wait_with_output().unwrap().status.success());
        drop(world);
    }
}

#[test]
fn a_run_that_is_resumed_goes_by_the_templates_that_it_began_with() {
    for binding in ["", "  templateBinding: Live\n", "  templateBinding: Snapshot\n"] {
        resumed_with_its_own_templates(binding);
    }
}

fn resumed_with_its_own_templates(binding: &str) {
    let flow = "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f}\nspec:\n  flows:\n  \
                - {name: a, template: step}\n  - name: b\n    template: step\n    dependsOn: {targets: [a]}\n    \
                patch: {jobSpec: {tasks: [{name: main, template: {spec: {containers: [{name: main, env: [{name: WORD, value: patched}]}]}}}]}}\n";
    let template = "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobTemplate\nmetadata: {name: step}\nspec:\n  tasks:\n  \
                - name: main\n    replicas: 1\n    template: {spec: {restartPolicy: Never, containers: [{name: main, image: x, \
                env: [{name: WORD, value: own}], command: [sh, -c, 'test -e go || sleep 60; echo first $WORD']}]}}\n";
    let flow = flow.replace("spec:\n  flows", &format!("spec:\n{binding}  flows"));
    let world = World::with("flow.yaml", &flow).and("step.yaml", template);
    let child = begun(&world, &["run", "flow.yaml", "step.yaml", "--grace", "1"]);
    kill("-INT", &child.id().to_string());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    let edited = [
        flow.replace("patched", "edited"),
        template.replace("first", "second"),
    ];
    let world = world
        .and("go", "")
        .and("flow.yaml", &edited[0])
        .and("step.yaml", &edited[1]);
    let ran = world.run(&["run", "--resume"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert!(ran.stdout.ends_with("b:\nfirst patched\n"), "{}", ran.stdout);
    assert_eq!(world.run(&["logs", "--raw", "a"]).stdout, "first own\n");
}

/// The executor of the newest run in a folder's state.
pub(crate) fn executor(world: &World) -> String {
    let runs = world.path().join("state/runs");
    let of_this =
        |arguments: &str| arguments.contains("__executor") && arguments.contains(runs.to_str().unwrap());
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let found = processes.filter(|process| {
        let arguments = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        of_this(&String::from_utf8_lossy(&arguments))
    });
    found.last().unwrap().file_name().into_string().unwrap()
}

#[test]
fn a_task_is_made_anew_when_its_executor_is_killed() {
    let world = World::with("flow.yaml", &chain(&[("a", "test -e go || sleep 60; echo done")]));
    let child = begun(&world, &["run", "flow.yaml"]);
    let world = world.and("go", "");
    kill("-KILL", &executor(&world));
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("a: Queued again, its tasks are made anew"),
        "{said}"
    );
    assert!(output.stdout.ends_with(b"a:\ndone\n"));
}

#[test]
fn a_run_is_decided_for_by_one() {
    let world = World::with("flow.yaml", &chain(&[("a", "sleep 60")]));
    let child = begun(&world, &["run", "flow.yaml", "--grace", "1"]);
    let second = world.run(&["run", "--resume"]);
    assert_eq!((second.code, second.stdout.as_str()), (3, ""));
    assert!(
        second.stderr.contains("is in use by another jobflow"),
        "{}",
        second.stderr
    );
    assert!(
        second
            .stderr
            .contains("help: see how it stands with: jobflow status"),
        "{}",
        second.stderr
    );
    kill("-INT", &child.id().to_string());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
}

#[test]
fn a_command_that_is_not_there_and_a_signal_are_told() {
    for (command, why) in [
        ("exec /no/such/command", "exited with 127"),
        ("kill -SEGV $$$$", "was ended by signal 11"),
    ] {
        let ran = World::with("flow.yaml", &chain(&[("a", command)])).run(&["run", "flow.yaml"]);
        assert_eq!(ran.code, 1, "{}", ran.shown());
        assert!(ran.stdout.contains(why), "{}", ran.shown());
    }
}

#[test]
fn output_without_end_is_kept_in_bounds() {
    let world = World::with("flow.yaml", &chain(&[("a", "yes | head -c 50000000; echo last")]));
    let ran = world.run(&["run", "flow.yaml"]);
    assert!(
        ran.code == 0 && ran.stdout.ends_with("\ny\nlast\n"),
        "{}",
        ran.shown()
    );
    assert!(world.run(&["logs", "a"]).stdout.len() < 20_000_000);
}

#[test]
fn a_run_that_could_not_be_written_down_goes_on_when_there_is_room() {
    let entries = [
        ("a", "true"),
        ("b", "true"),
        ("c", "true"),
        ("d", "true"),
        ("e", "echo all"),
    ];
    let world = World::with("flow.yaml", &chain(&entries));
    // A file that may not grow stands for a disk that is full.
    let script = "trap '' XFSZ; ulimit -f 16; exec \"$0\" run flow.yaml";
    let ran = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_jobflow")])
        .current_dir(world.path())
        .env("JOBFLOW_STATE_DIR", world.path().join("state"))
        .output()
        .unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(3), "{said}");
    assert!(
        said.contains("help: when that is mended, go on with: jobflow run --resume "),
        "{said}"
    );
    let ran = world.run(&["run", "--resume"]);
    assert!(
        ran.code == 0 && ran.stdout.ends_with("\ne:\nall\n"),
        "{}",
        ran.shown()
    );
}

#[test]
fn few_open_files_slow_a_run_and_stop_it_not() {
    let names: Vec<String> = (0..60).map(|at| format!("e{at}")).collect();
    let entries: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "sleep 0.1")).collect();
    let flow = chain(&entries);
    let all_at_once: String = flow
        .split_inclusive('\n')
        .filter(|line| !line.contains("dependsOn"))
        .collect();
    let world = World::with("flow.yaml", &all_at_once);
    let ran = Command::new("sh")
        .args([
            "-c",
            "ulimit -n 64; exec \"$0\" run flow.yaml",
            env!("CARGO_BIN_EXE_jobflow"),
        ])
        .current_dir(world.path())
        .env("JOBFLOW_STATE_DIR", world.path().join("state"))
        .output()
        .unwrap();
    assert_eq!(
        ran.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}
