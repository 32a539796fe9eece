//! Readiness by commands: each is a process beside the container's own, ended when its time is up.
//!
//! They are children of the process that decides, and no tasks: nothing of them is written down, and they are asked
//! anew after a restart. One that outlives a killed run ends by itself.

use std::{
    process::{Child, Command, Stdio},
    sync::Arc,
};

use jobflow_core::{Time, probe::Probe};
use jobflow_k8s::probe::{Look, Schedule};
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};

use crate::host::ContainerKey;

/// How many commands run at a time.
const AT_ONCE: usize = 8;

/// The commands that look at containers.
#[derive(Debug)]
pub(crate) struct Commands {
    schedule: Schedule<ContainerKey>,
    running: Vec<Running>,
}

#[derive(Debug)]
struct Running {
    look: Look<ContainerKey>,
    child: Child,
    until: Time,
}

impl Commands {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            // A lane gets half, and there is one.
            schedule: Schedule::new(2 * AT_ONCE, seed),
            running: Vec::new(),
        }
    }

    /// Whether there is nothing to look at.
    pub(crate) fn is_idle(&self) -> bool {
        self.schedule.is_empty() && self.running.is_empty()
    }

    /// Looks at these from now on; of a probe only its times are taken.
    pub(crate) fn want(&mut self, wanted: Vec<(ContainerKey, Arc<Probe>)>, now: Time) {
        self.schedule.want(&"run".into(), &"run".into(), wanted, now);
    }

    /// Begins what is due, and tells how looks went that are over. What can't be begun has failed.
    pub(crate) fn turn(
        &mut self,
        now: Time,
        command: impl Fn(ContainerKey) -> Option<Command>,
    ) -> Vec<(ContainerKey, bool)> {
        let mut told = Vec::new();
        for mut running in std::mem::take(&mut self.running) {
            match running.outcome(now) {
                Some(well) => self.end(&running.look, well, now, &mut told),
                None => self.running.push(running),
            }
        }
        for look in self.schedule.begin(now) {
            let child = command(look.key).and_then(|mut command| {
                let silent = command
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .stderr(Stdio::null());
                silent.spawn().ok()
            });
            let until = now + look.probe.timeout;
            match child {
                Some(child) => self.running.push(Running { look, child, until }),
                None => self.end(&look, false, now, &mut told),
            }
        }
        told
    }

    fn end(
        &mut self,
        look: &Look<ContainerKey>,
        well: bool,
        now: Time,
        told: &mut Vec<(ContainerKey, bool)>,
    ) {
        if self.schedule.done(look, now) {
            told.push((look.key, well));
        }
    }
}

impl Default for Commands {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Running {
    /// How it went, if it is over or its time is up.
    fn outcome(&mut self, now: Time) -> Option<bool> {
        match self.child.try_wait() {
            Ok(Some(status)) => Some(status.success()),
            Ok(None) if now < self.until => None,
            Ok(None) | Err(_) => {
                self.kill();
                Some(false)
            }
        }
    }

    /// Ends it with everything that it started.
    fn kill(&mut self) {
        if let Ok(group) = i32::try_from(self.child.id()) {
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
        let _ = self.child.wait();
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        self.running.iter_mut().for_each(Running::kill);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        os::unix::process::CommandExt,
        time::{Duration, Instant},
    };

    use jobflow_core::{
        JobKey, NodeId, Span,
        gang::PodKey,
        probe::{Ask, Replicas},
    };

    use super::*;

    const KEY: ContainerKey = ContainerKey {
        job: JobKey {
            node: NodeId(0),
            index: 0,
            attempt: 1,
        },
        pod: PodKey {
            task: 0,
            index: 0,
            incarnation: 0,
        },
        container: 0,
        run: 0,
    };

    /// How the first look by this command goes.
    fn look(script: &'static str, timeout: u64) -> Vec<(ContainerKey, bool)> {
        let probe = Arc::new(Probe {
            task: "".into(),
            port: 0,
            ask: Ask::TcpSocket,
            period: Span::from_secs(100),
            timeout: Span(timeout),
            success_threshold: 1,
            replicas: Replicas::All,
        });
        let mut commands = Commands::new(1);
        commands.want(vec![(KEY, probe)], Time(0));
        let began = Instant::now();
        let command = |_| {
            let mut command = Command::new("sh");
            command.args(["-c", script]).process_group(0);
            Some(command)
        };
        loop {
            let now = Time(i64::try_from(began.elapsed().as_millis()).unwrap());
            let told = commands.turn(now, command);
            if !told.is_empty() || began.elapsed() > Duration::from_secs(20) {
                return told;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_command_says_by_its_exit_code_whether_the_container_is_ready() {
        assert_eq!(look("exit 0", 10_000), [(KEY, true)]);
        assert_eq!(look("exit 3", 10_000), [(KEY, false)]);
    }

    #[test]
    fn a_command_that_hangs_has_failed_and_is_ended() {
        let began = Instant::now();
        assert_eq!(look("sleep 60 & sleep 60", 100), [(KEY, false)]);
        assert!(began.elapsed() < Duration::from_secs(15));
    }
}
