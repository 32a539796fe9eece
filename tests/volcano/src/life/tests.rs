use jobflow_core::gang::{Action, Event, GangTask, JobPhase, Policy};

use super::*;
use crate::course::{PodCourse, PodEnd};

fn spec() -> GangSpec {
    let task = GangTask {
        name: "main".to_owned(),
        replicas: 1,
        min_available: 1,
        ..GangTask::default()
    };
    GangSpec {
        min_available: 1,
        max_retry: 3,
        tasks: vec![task],
        ..GangSpec::default()
    }
}

fn life(spec: GangSpec, course: Course, detail: Detail) -> Life {
    Life::new(spec, course, Manner { detail, pods: false }, true, Time(0))
}

/// Every phase that is written until nothing happens any more, or the time is up; each write takes a while.
fn written(life: &mut Life, until: Time) -> Vec<JobPhase> {
    let (mut now, mut phases) = (Time(0), Vec::new());
    while now < until {
        while life.look(now) {
            if let Some(plan) = life.step(now) {
                phases.push(plan.next.phase());
                now = now + Span(7);
                life.commit(plan, now);
            }
        }
        let Some(at) = life.wake_at() else { break };
        now = at.max(now);
    }
    phases
}

#[test]
fn every_phase_is_written_however_short_it_is() {
    use JobPhase::{Completed, Pending, Running};
    let hasty = PodCourse {
        pending_for: Some(Span(0)),
        runs_for: Span(0),
        ..PodCourse::default()
    };
    let mut life = life(spec(), Course::of(hasty), Detail::AsVolcano);
    assert_eq!(
        written(&mut life, Time(1000)),
        [Pending, Pending, Running, Completed, Completed]
    );
}

#[test]
fn without_detail_each_phase_is_written_once() {
    use JobPhase::{Completed, Pending, Running};
    let mut life = life(spec(), Course::default(), Detail::Phases);
    assert_eq!(written(&mut life, Time(2000)), [Pending, Running, Completed]);
}

#[test]
fn an_evicted_pod_is_made_again_and_then_does_as_its_next_incarnation() {
    let course = PodCourse {
        ends: vec![PodEnd::Evicted, PodEnd::Exits(0)],
        ..PodCourse::default()
    };
    let mut spec = spec();
    spec.policies.push(Policy {
        events: vec![Event::PodEvicted],
        exit_code: None,
        action: Action::RestartJob,
        timeout: None,
    });
    let mut life = life(spec, Course::of(course), Detail::Phases);
    use JobPhase::{Completed, Pending, Restarting, Running};
    let phases = written(&mut life, Time(5000));
    assert_eq!(
        phases,
        [Pending, Running, Restarting, Pending, Running, Completed]
    );
    assert_eq!(life.gang().status.retry_count, 1);
}

#[test]
fn a_command_is_heard_once_and_only_when_its_answer_was_written() {
    let course = Course::of(PodCourse {
        ends: vec![PodEnd::Never],
        ..PodCourse::default()
    });
    let mut life = life(spec(), course, Detail::Phases);
    written(&mut life, Time(1000));
    life.command(Command::Terminate);
    assert!(life.look(Time(1000)));
    let lost = life.step(Time(1000)).unwrap();
    assert_eq!(lost.next.phase(), JobPhase::Terminating);
    let again = life.step(Time(1001)).unwrap();
    assert_eq!(again.next.phase(), JobPhase::Terminating);
    assert_eq!(
        written(&mut life, Time(3000)),
        [JobPhase::Terminating, JobPhase::Terminated]
    );
}

#[test]
fn a_gang_without_a_queue_is_given_up_after_minutes() {
    let manner = Manner {
        detail: Detail::Phases,
        pods: false,
    };
    let mut life = Life::new(spec(), Course::default(), manner, false, Time(0));
    assert!(written(&mut life, Time(150_000)).is_empty());
    let mut waits = Life::new(spec(), Course::default(), manner, false, Time(0));
    let phases = written(&mut waits, Time(300_000));
    assert_eq!(phases, [JobPhase::Terminating, JobPhase::Terminated]);
}
