//! The price of a task: own CPU of client and executor, and wall time against a `dash` loop of `/bin/true`, two at
//! once, in the same run.
//!
//! Bounds: under 1 ms of CPU a task, wall at most 1.5 times the loop's.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use jobflow_local::{
    client::{Client, Launch, Message},
    executor::{self, line::Line},
    task::{TaskKey, TaskSpec},
};

const TASKS: usize = 2000;
const AT_ONCE: usize = 2;

type Failure = Box<dyn std::error::Error>;

#[expect(clippy::print_stdout, reason = "a benchmark reports to whoever ran it")]
fn main() -> Result<(), Failure> {
    let (wall, executor_cpu, client_cpu) = tasks()?;
    let loop_wall = dash_loop()?;
    let each = |duration: Duration| duration.as_secs_f64() * 1e6 / TASKS as f64;
    println!(
        "cpu a task: executor {:.0} µs, client {:.0} µs",
        each(executor_cpu),
        each(client_cpu)
    );
    println!(
        "wall a task: {:.0} µs; dash {:.0} µs; ratio {:.2}",
        each(wall),
        each(loop_wall),
        each(wall) / each(loop_wall)
    );
    Ok(())
}

fn tasks() -> Result<(Duration, Duration, Duration), Failure> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join(executor::TOKEN), "token")?;
    let launch = Launch {
        program: env!("CARGO_BIN_EXE_jobflow-executor").into(),
        arguments: Vec::new(),
    };
    let mut client = Client::connect_or_launch(folder.path(), &launch)?;
    client.watch(0)?;
    let (mut asked, mut ended, mut executor) = (0, 0, 0);
    let own = i32::try_from(std::process::id())?;
    let before = cpu(own)?;
    let begin = Instant::now();
    while ended < TASKS {
        while asked < TASKS && asked - ended < AT_ONCE {
            client.start(TaskKey::new(format!("task-{asked}"))?, spec(folder.path()))?;
            asked += 1;
        }
        match client.next(Duration::from_secs(10))? {
            Some(Message::Line(Line::Ended { .. }, _)) => ended += 1,
            Some(Message::Line(Line::Executor { process, .. }, _)) => executor = process.pid,
            Some(_) => {}
            None => return Err("nothing happens".into()),
        }
    }
    let wall = begin.elapsed();
    let result = (wall, cpu(executor)?, cpu(own)?.saturating_sub(before));
    client.shut_down(Duration::ZERO)?;
    Ok(result)
}

fn spec(folder: &Path) -> TaskSpec {
    TaskSpec {
        argv: vec!["/bin/true".into()],
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: folder.to_owned(),
        log: "log".into(),
        log_limit: 1 << 20,
        umask: None,
        uid: None,
        gid: None,
    }
}

/// User and system time of a process itself, its children's not counted.
fn cpu(pid: i32) -> Result<Duration, Failure> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, fields) = text.rsplit_once(')').ok_or("no name")?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next().ok_or("no user time")?.parse()?;
    let system: u64 = fields.next().ok_or("no system time")?.parse()?;
    Ok(Duration::from_millis((user + system) * 10))
}

fn dash_loop() -> Result<Duration, Failure> {
    let each = TASKS / AT_ONCE;
    let script = format!("i=0; while [ $i -lt {each} ]; do /bin/true; i=$((i+1)); done");
    let begin = Instant::now();
    let children: Result<Vec<_>, _> = (0..AT_ONCE)
        .map(|_| Command::new("dash").args(["-c", &script]).spawn())
        .collect();
    for mut child in children? {
        child.wait()?;
    }
    Ok(begin.elapsed())
}
