use jobflow_core::{
    JobKey, NodeId, Time,
    gang::{Command, GangSpec, GangTask, JobPhase},
};

use super::{Ask, ContainerPlan, Host, JobPlan, PodPlan};
use crate::{executor::line::Line, pod::template::RestartPolicy, process::ProcessId, task::Outcome};

const KEY: JobKey = JobKey {
    node: NodeId(0),
    index: 0,
    attempt: 1,
};

fn host(replicas: u32, restart_policy: RestartPolicy, containers: &[(&str, bool)]) -> Host {
    let container = |(name, init): &(&str, bool)| ContainerPlan {
        name: (*name).to_owned(),
        init: *init,
        readiness: None,
    };
    let pod = PodPlan {
        containers: containers.iter().map(container).collect(),
        restart_policy,
        deadline: None,
        grace: std::time::Duration::from_secs(30),
    };
    let task = GangTask {
        name: "main".into(),
        replicas,
        min_available: replicas,
        ..GangTask::default()
    };
    let spec = GangSpec {
        min_available: replicas,
        max_retry: 3,
        tasks: vec![task],
        ..GangSpec::default()
    };
    let mut host = Host::default();
    let plan = JobPlan {
        name: "flow-a".into(),
        uid: "u".into(),
        pods: vec![pod],
    };
    host.create(KEY, plan, spec, Time(0));
    host.round(Time(0));
    host.admit(KEY, true);
    host
}

/// What a round asks, as words.
fn asks(host: &mut Host, now: i64) -> Vec<String> {
    let word = |ask: &Ask| match ask {
        Ask::Start(key) => format!("start {key}"),
        Ask::Stop(key, _) => format!("stop {key}"),
    };
    host.round(Time(now)).asks.iter().map(word).collect()
}

fn started(host: &mut Host, key: &str, at: i64) {
    let process = ProcessId {
        pid: 7,
        start_time: 1,
    };
    host.hear(&Line::Started {
        key: format!("0/0/1:{key}").try_into().unwrap(),
        process,
        at,
    });
}

fn ended(host: &mut Host, key: &str, outcome: Outcome, at: i64) {
    host.hear(&Line::Ended {
        key: format!("0/0/1:{key}").try_into().unwrap(),
        outcome,
        at,
        lost: 0,
    });
}

fn phase(host: &Host) -> JobPhase {
    host.job(KEY).unwrap().phase()
}

#[test]
fn a_job_of_two_pods_completes_when_both_have_succeeded() {
    let mut host = host(2, RestartPolicy::Never, &[("main", false)]);
    assert_eq!(
        asks(&mut host, 1),
        ["start 0/0/1:0/0/0:0.0", "start 0/0/1:0/1/0:0.0"]
    );
    assert_eq!(asks(&mut host, 2), [""; 0]);
    started(&mut host, "0/0/0:0.0", 3);
    started(&mut host, "0/1/0:0.0", 3);
    host.round(Time(3));
    assert_eq!(phase(&host), JobPhase::Running);
    ended(&mut host, "0/0/0:0.0", Outcome::Exited(0), 4);
    ended(&mut host, "0/1/0:0.0", Outcome::Exited(0), 5);
    host.round(Time(5));
    assert_eq!(phase(&host), JobPhase::Completed);
    assert!(host.view(KEY).unwrap().ran);
}

#[test]
fn the_first_container_that_failed_tells_the_end() {
    let mut host = host(1, RestartPolicy::Never, &[("main", false)]);
    host.round(Time(1));
    started(&mut host, "0/0/0:0.0", 2);
    ended(&mut host, "0/0/0:0.0", Outcome::Exited(3), 3);
    host.round(Time(3));
    let view = host.view(KEY).unwrap();
    assert_eq!((view.phase, view.exit_code), (JobPhase::Failed, Some(3)));
    assert_eq!(
        view.message.as_deref(),
        Some("container main of pod flow-a-main-0 exited with 3")
    );
}

#[test]
fn init_containers_run_one_after_the_other_before_the_rest() {
    let mut host = host(
        1,
        RestartPolicy::Never,
        &[("one", true), ("two", true), ("main", false), ("side", false)],
    );
    assert_eq!(asks(&mut host, 1), ["start 0/0/1:0/0/0:0.0"]);
    ended(&mut host, "0/0/0:0.0", Outcome::Exited(0), 2);
    assert_eq!(asks(&mut host, 2), ["start 0/0/1:0/0/0:1.0"]);
    ended(&mut host, "0/0/0:1.0", Outcome::Exited(0), 3);
    assert_eq!(
        asks(&mut host, 3),
        ["start 0/0/1:0/0/0:2.0", "start 0/0/1:0/0/0:3.0"]
    );
}

#[test]
fn a_failed_container_is_started_again_after_a_pause_that_grows() {
    let mut host = host(1, RestartPolicy::OnFailure, &[("main", false)]);
    host.round(Time(1));
    ended(&mut host, "0/0/0:0.0", Outcome::Exited(1), 2);
    assert_eq!(asks(&mut host, 2), ["start 0/0/1:0/0/0:0.1"]);
    ended(&mut host, "0/0/0:0.1", Outcome::Exited(1), 3);
    assert_eq!(host.round(Time(3)).wake_at, Some(Time(1003)));
    assert_eq!(asks(&mut host, 1003), ["start 0/0/1:0/0/0:0.2"]);
    ended(&mut host, "0/0/0:0.2", Outcome::Exited(0), 1004);
    host.round(Time(1004));
    assert_eq!(phase(&host), JobPhase::Completed);
}

#[test]
fn a_pod_whose_end_nobody_saw_is_made_anew() {
    let mut host = host(1, RestartPolicy::Never, &[("main", false)]);
    host.round(Time(1));
    started(&mut host, "0/0/0:0.0", 2);
    host.round(Time(2));
    ended(&mut host, "0/0/0:0.0", Outcome::Lost, 3);
    assert_eq!(asks(&mut host, 3), ["start 0/0/1:0/0/1:0.0"]);
    assert_ne!(phase(&host), JobPhase::Failed);
}

#[test]
fn a_pod_that_was_lost_before_anybody_saw_it_is_made_anew() {
    let mut host = host(2, RestartPolicy::Never, &[("main", false)]);
    host.round(Time(1));
    ended(&mut host, "0/1/0:0.0", Outcome::Lost, 2);
    assert_eq!(asks(&mut host, 2), ["start 0/0/1:0/1/1:0.0"]);
    assert_eq!(phase(&host), JobPhase::Pending);
    for pod in ["0/0/0:0.0", "0/1/1:0.0"] {
        started(&mut host, pod, 3);
        ended(&mut host, pod, Outcome::Exited(0), 4);
    }
    while host.round(Time(4)).wake_at.is_some() {}
    assert_eq!(phase(&host), JobPhase::Completed);
}

#[test]
fn what_was_written_down_as_asked_for_and_got_lost_is_made_anew() {
    let mut first = host(1, RestartPolicy::Never, &[("main", false)]);
    first.round(Time(1));
    let job = first.job(KEY).unwrap();
    let (gang, spec, plan) = (job.gang().clone(), job.spec().clone(), job.plan.clone());
    let mut second = Host::default();
    second.restore(KEY, plan, spec, gang);
    second.admit(KEY, true);
    ended(&mut second, "0/0/0:0.0", Outcome::Lost, 2);
    assert!(asks(&mut second, 3).contains(&"start 0/0/1:0/0/1:0.0".to_owned()));
    assert_eq!(phase(&second), JobPhase::Pending);
}

#[test]
fn what_nobody_may_have_heard_of_is_asked_for_again() {
    let mut host = host(2, RestartPolicy::Never, &[("main", false)]);
    host.round(Time(1));
    started(&mut host, "0/0/0:0.0", 2);
    host.round(Time(2));
    host.ask_again(Time(3));
    assert_eq!(asks(&mut host, 3), ["start 0/0/1:0/1/0:0.0"]);
    assert_eq!(asks(&mut host, 4), [""; 0]);
}

#[test]
fn a_pod_that_was_evicted_before_it_started_is_made_anew() {
    let mut host = host(1, RestartPolicy::Never, &[("main", false)]);
    host.round(Time(1));
    host.evict(KEY);
    assert_eq!(asks(&mut host, 2), ["stop 0/0/1:0/0/0:0.0"]);
    ended(&mut host, "0/0/0:0.0", Outcome::Signalled(15), 3);
    assert_eq!(asks(&mut host, 3), ["start 0/0/1:0/0/1:0.0"]);
    assert_ne!(phase(&host), JobPhase::Failed);
}

#[test]
fn ends_during_an_interruption_are_lost() {
    let mut host = host(1, RestartPolicy::Never, &[("main", false)]);
    host.round(Time(1));
    started(&mut host, "0/0/0:0.0", 2);
    host.round(Time(2));
    host.note_interruption(Time(10), Time(20));
    ended(&mut host, "0/0/0:0.0", Outcome::Signalled(15), 11);
    assert_eq!(asks(&mut host, 21), ["start 0/0/1:0/0/1:0.0"]);
}

#[test]
fn a_terminated_job_stops_its_pods_and_ends_when_they_are_gone() {
    let mut host = host(1, RestartPolicy::Never, &[("main", false)]);
    host.round(Time(1));
    started(&mut host, "0/0/0:0.0", 2);
    host.round(Time(2));
    host.command(KEY, Command::Terminate);
    assert_eq!(asks(&mut host, 3), ["stop 0/0/1:0/0/0:0.0"]);
    assert_eq!(phase(&host), JobPhase::Terminating);
    ended(&mut host, "0/0/0:0.0", Outcome::Signalled(15), 4);
    assert_eq!(asks(&mut host, 4), [""; 0]);
    assert_eq!(phase(&host), JobPhase::Terminated);
    assert_eq!(host.view(KEY).unwrap().exit_code, None);
}

#[test]
fn a_deleted_job_is_gone_when_its_processes_are() {
    let mut host = host(1, RestartPolicy::Never, &[("main", false)]);
    host.round(Time(1));
    started(&mut host, "0/0/0:0.0", 2);
    host.round(Time(2));
    host.delete(KEY);
    assert_eq!(asks(&mut host, 3), ["stop 0/0/1:0/0/0:0.0"]);
    assert!(host.job(KEY).is_some());
    ended(&mut host, "0/0/0:0.0", Outcome::Signalled(9), 4);
    host.round(Time(4));
    assert!(host.job(KEY).is_none());
}

#[test]
fn a_gang_that_was_written_down_goes_on_where_it_was() {
    let mut first = host(1, RestartPolicy::Never, &[("main", false)]);
    first.round(Time(1));
    let job = first.job(KEY).unwrap();
    let (gang, spec, plan) = (job.gang().clone(), job.spec().clone(), job.plan.clone());
    let mut second = Host::default();
    second.restore(KEY, plan, spec, gang);
    second.admit(KEY, true);
    started(&mut second, "0/0/0:0.0", 2);
    assert_eq!(asks(&mut second, 3), [""; 0]);
    ended(&mut second, "0/0/0:0.0", Outcome::Exited(0), 4);
    second.round(Time(4));
    assert_eq!(phase(&second), JobPhase::Completed);
}
