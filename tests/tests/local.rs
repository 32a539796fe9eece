//! Conformance scripts and flows with known ends, with real processes: histories and ends must be those of the world.
//!
//! The program is its own executor, so it has a main of its own.

#![expect(clippy::print_stdout, reason = "a test runner says what it ran")]
#![expect(clippy::unwrap_used, reason = "a test says so when something is missing")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use jobflow_core::Span;
use jobflow_core::testing::{Act, End};
use jobflow_local::executor::{self, Options};
use jobflow_tests::local::{self, EXECUTOR, Scale};
use jobflow_tests::scripts::{self, Told};
use jobflow_tests::vectors::Vector;

/// How many runs go on at once: they mostly wait.
const AT_ONCE: usize = 8;

/// What is told of a case that takes longer.
const SLOW: std::time::Duration = std::time::Duration::from_secs(20);

/// What came of one case.
enum Verdict {
    Passed,
    Failed(String),
    Skipped(String),
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, folder] = arguments.as_slice()
        && word == EXECUTOR
    {
        return execute(Path::new(folder));
    }
    if arguments.iter().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let filter = arguments
        .iter()
        .find(|argument| !argument.starts_with('-'))
        .cloned()
        .unwrap_or_default();
    let chosen = |cases: Vec<Case>| {
        cases
            .into_iter()
            .filter(|(name, _)| name.contains(&filter))
            .collect::<Vec<_>>()
    };
    let scripts = run("scripts", chosen(scripts()));
    let vectors = run("flows with known ends", chosen(vectors()));
    if scripts && vectors {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn execute(folder: &Path) -> ExitCode {
    match executor::main(folder, Options::default(), std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(executor::ExecutorError::Taken) => ExitCode::from(3),
        Err(_) => ExitCode::FAILURE,
    }
}

type Case = (String, Box<dyn Fn(&Path) -> Verdict + Send + Sync>);

/// Runs cases side by side, prints what failed and why others were skipped, and a closing line.
fn run(title: &str, cases: Vec<Case>) -> bool {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(String, Verdict)>> = Mutex::new(Vec::new());
    let folder = tempfile::tempdir().unwrap();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((name, case)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let begun = std::time::Instant::now();
                    let verdict = case(folder.path());
                    if begun.elapsed() > SLOW || std::env::var_os("VERBOSE").is_some() {
                        println!("{title}: {name} took {:?}", begun.elapsed());
                    }
                    results.lock().unwrap().push((name.clone(), verdict));
                }
            });
        }
    });
    report(title, results.into_inner().unwrap())
}

fn report(title: &str, results: Vec<(String, Verdict)>) -> bool {
    let (mut passed, mut failed) = (0, 0);
    let mut skipped: BTreeMap<String, usize> = BTreeMap::new();
    for (name, verdict) in results {
        match verdict {
            Verdict::Passed => passed += 1,
            Verdict::Skipped(why) => *skipped.entry(why).or_default() += 1,
            Verdict::Failed(how) => {
                failed += 1;
                println!("{title}: {name}\n  {how}");
            }
        }
    }
    println!("\n{title}, with processes; kept back: {skipped:?}");
    println!(
        "{passed} passed, {failed} failed, {} skipped",
        skipped.values().sum::<usize>()
    );
    failed == 0
}

fn scripts() -> Vec<Case> {
    let case = |told: Told| -> Case {
        let name = told.name.clone();
        (name, Box::new(move |folder: &Path| play_script(&told, folder)))
    };
    scripts::all().into_iter().map(case).collect()
}

fn play_script(told: &Told, folder: &Path) -> Verdict {
    let Told { script, text, .. } = told;
    if script.entries.iter().any(|entry| entry.when.is_some()) || text.contains(" switch=") {
        return Verdict::Skipped("when or switch".to_owned());
    }
    if script.acts.iter().any(|(_, act)| *act == Act::Forget) {
        return Verdict::Skipped("a restart in the middle".to_owned());
    }
    if script.lives.values().any(|life| life.queued > Span::ZERO) {
        return Verdict::Skipped("pods that wait for a machine".to_owned());
    }
    let deleted = script.acts.iter().any(|(_, act)| matches!(act, Act::Delete(_)));
    if deleted || script.lives.values().any(|life| life.end == End::Deleted) {
        return Verdict::Skipped("a deletion that takes no time".to_owned());
    }
    let Some(scale) = local::scale(script) else {
        return Verdict::Skipped("its waits are told in whole seconds, and too long".to_owned());
    };
    match local::play(script, scale, folder) {
        Ok(ran) => {
            let differences = script.differences(&ran.graph, &ran.history, ran.end);
            if differences.is_empty() {
                Verdict::Passed
            } else {
                Verdict::Failed(differences.join("\n  "))
            }
        }
        Err(error) => Verdict::Failed(format!("{error}: {error:?}")),
    }
}

fn vectors() -> Vec<Case> {
    let given = std::env::var_os("JOBFLOW_VECTORS");
    let built_in = given.is_none();
    let text = match given {
        Some(path) => std::fs::read_to_string(path).unwrap(),
        None => include_str!("../vectors/flows.jsonl").to_owned(),
    };
    let case = move |(number, line): (usize, &str)| -> Case {
        let mut vector = Vector::parse(line).unwrap();
        if built_in {
            vector.correct(number + 1);
        }
        (
            format!("line {}", number + 1),
            Box::new(move |folder: &Path| play_vector(&vector, folder)),
        )
    };
    text.lines().enumerate().map(case).collect()
}

fn play_vector(vector: &Vector, folder: &Path) -> Verdict {
    if let Err(fields) = vector.parse_flow() {
        return Verdict::Skipped(fields.into_iter().collect::<Vec<_>>().join(", "));
    }
    let lives = |name: &str, attempt: u32| vector.life(name, 0, attempt);
    let entries = vector.entries();
    let manifest = local::manifest(&entries, &vector.policy(), &lives, Scale(0));
    match local::run(manifest, &lives, &[], Scale(0), None, folder) {
        Ok(ran) => compare(vector, &ran),
        Err(error) => Verdict::Failed(format!("{error}: {error:?}")),
    }
}

fn compare(vector: &Vector, ran: &local::Ran) -> Verdict {
    let mut differences = Vec::new();
    if ran.end.as_str() != vector.phase {
        differences.push(format!("the flow: expected {}, found {}", vector.phase, ran.end));
    }
    for (name, expected) in &vector.nodes {
        let node = ran.graph.find(name).unwrap();
        let last = ran.history.iter().rev().find(|step| step.change.key.node == node);
        let found = last.map_or("Waiting", |step| step.change.to.as_str());
        if found != expected {
            let reason = last.and_then(|step| step.reason);
            differences.push(format!("{name}: expected {expected}, found {found} {reason:?}"));
        }
    }
    if differences.is_empty() {
        Verdict::Passed
    } else {
        Verdict::Failed(differences.join("\n  "))
    }
}
