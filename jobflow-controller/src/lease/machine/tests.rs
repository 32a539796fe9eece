//! The election played by hand: each test is a few steps of one or two machines around one lease.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;

use super::*;

/// A lease with versions, as an API server keeps it.
#[derive(Default)]
struct Server {
    lease: Option<Lease>,
    version: u64,
}

impl Server {
    fn answer(&mut self, ask: &Ask) -> Answer {
        let (new, is_create) = match ask {
            Ask::Read => {
                return self
                    .lease
                    .clone()
                    .map_or(Answer::Absent, |lease| Answer::Found(Box::new(lease)));
            }
            Ask::Create(lease) => (lease, true),
            Ask::Replace(lease) => (lease, false),
        };
        let stored = self.lease.as_ref().map(|lease| &lease.metadata.resource_version);
        match (stored, is_create) {
            (Some(_), true) => return Answer::Conflict,
            (None, false) => return Answer::Absent,
            (Some(stored), false) if *stored != new.metadata.resource_version => return Answer::Conflict,
            (Some(_), false) | (None, true) => {}
        }
        self.version += 1;
        let mut lease = new.clone();
        lease.metadata.resource_version = Some(self.version.to_string());
        self.lease = Some(*lease.clone());
        Answer::Written(lease)
    }
}

fn at(milliseconds: u64) -> Moment {
    Moment(Duration::from_millis(milliseconds))
}

fn machine(me: &str) -> Machine {
    let name = LeaseName {
        namespace: "jobflow-system".to_owned(),
        name: "jobflow-controller".to_owned(),
    };
    Machine::new(Identity::new(me, 0), name, Timings::default(), 7)
}

/// Lets a machine ask whatever it wants to at that time; each answer comes at once.
fn play(machine: &mut Machine, server: &mut Server, now: Moment) {
    while let Step::Send(ask) = machine.step(now, Timestamp::UNIX_EPOCH) {
        let answer = server.answer(&ask);
        machine.answered(answer, now, now);
    }
}

fn leads(machine: &mut Machine, now: Moment) -> bool {
    matches!(machine.standing(now), Standing::Leading { .. })
}

#[test]
fn of_two_that_start_together_one_leads() {
    let (mut server, mut a, mut b) = (Server::default(), machine("a"), machine("b"));
    for millisecond in (0..60_000).step_by(50) {
        play(&mut a, &mut server, at(millisecond));
        play(&mut b, &mut server, at(millisecond));
        assert!(leads(&mut a, at(millisecond)), "{millisecond}");
        assert!(!leads(&mut b, at(millisecond)), "{millisecond}");
    }
    let spec = server.lease.unwrap().spec.unwrap();
    assert_eq!(spec.lease_transitions, Some(0));
    assert_eq!(spec.lease_duration_seconds, Some(15));
}

#[test]
fn one_that_falls_silent_is_followed_after_the_lease_s_duration_and_not_before() {
    let (mut server, mut a, mut b) = (Server::default(), machine("a"), machine("b"));
    play(&mut a, &mut server, at(0));
    let mut began = None;
    for millisecond in (1000..30_000).step_by(50) {
        play(&mut b, &mut server, at(millisecond));
        if leads(&mut b, at(millisecond)) {
            began = began.or(Some(millisecond));
        }
        assert!(!(leads(&mut a, at(millisecond)) && leads(&mut b, at(millisecond))));
    }
    // Seen first at 1 s, and looked at about every 2 s.
    let began = began.unwrap();
    assert!((16_000..=18_500).contains(&began), "{began}");
    assert_eq!(server.lease.unwrap().spec.unwrap().lease_transitions, Some(1));
}

#[test]
fn a_holder_s_wall_clock_decides_nothing() {
    for wall in [Timestamp::MIN, Timestamp::MAX] {
        let (mut server, mut a, mut b) = (Server::default(), machine("a"), machine("b"));
        for second in 0..40 {
            while let Step::Send(ask) = a.step(at(second * 1000), wall) {
                a.answered(server.answer(&ask), at(second * 1000), at(second * 1000));
            }
            play(&mut b, &mut server, at(second * 1000));
            assert!(!leads(&mut b, at(second * 1000)), "{wall} {second}");
        }
    }
}

#[test]
fn a_leader_that_can_t_renew_stops_before_another_may_begin() {
    let (mut server, mut a) = (Server::default(), machine("a"));
    play(&mut a, &mut server, at(0));
    assert_eq!(a.held_until(), Some(at(14_850)));
    for millisecond in (2000..9_999).step_by(50) {
        if let Step::Send(_) = a.step(at(millisecond), Timestamp::UNIX_EPOCH) {
            a.answered(Answer::Failed, at(millisecond), at(millisecond));
        }
        assert!(leads(&mut a, at(millisecond)), "{millisecond}");
    }
    assert!(!leads(&mut a, at(10_000)));
    assert_eq!(a.held_until(), None);
}

#[test]
fn a_leader_that_sees_another_holder_stops_at_once() {
    let (mut server, mut a, mut b) = (Server::default(), machine("a"), machine("b"));
    play(&mut a, &mut server, at(0));
    let mut taken = server.lease.clone().unwrap();
    taken.spec.as_mut().unwrap().holder_identity = None;
    server.answer(&Ask::Replace(Box::new(taken)));
    play(&mut b, &mut server, at(100));
    assert!(leads(&mut b, at(100)));
    play(&mut a, &mut server, at(2500));
    assert!(!leads(&mut a, at(2500)));
    assert_eq!(a.holder(), Some("b_0000000000000000"));
}

#[test]
fn the_time_of_a_renewal_is_when_it_was_sent() {
    let (mut server, mut a) = (Server::default(), machine("a"));
    play(&mut a, &mut server, at(0));
    let Step::Send(ask) = a.step(at(2000), Timestamp::UNIX_EPOCH) else {
        panic!("it renews");
    };
    a.answered(server.answer(&ask), at(2000), at(6900));
    assert_eq!(a.held_until(), Some(at(16_850)));
}

#[test]
fn an_answer_that_came_too_late_makes_no_leader() {
    let (mut server, mut a) = (Server::default(), machine("a"));
    a.answered(Answer::Absent, at(0), at(0));
    let Step::Send(ask) = a.step(at(0), Timestamp::UNIX_EPOCH) else {
        panic!("it creates");
    };
    a.answered(server.answer(&ask), at(0), at(10_000));
    assert!(!leads(&mut a, at(10_000)));
    play(&mut a, &mut server, at(12_400));
    assert!(leads(&mut a, at(12_400)));
}

#[test]
fn a_lost_answer_loses_no_lease() {
    let (mut server, mut a) = (Server::default(), machine("a"));
    play(&mut a, &mut server, at(0));
    let Step::Send(ask) = a.step(at(2000), Timestamp::UNIX_EPOCH) else {
        panic!("it renews");
    };
    server.answer(&ask);
    a.answered(Answer::Failed, at(2000), at(2000));
    play(&mut a, &mut server, at(4400));
    assert_eq!(a.standing(at(4400)), Standing::Leading { renewed: at(4400) });
}

#[test]
fn a_lease_that_was_deleted_is_made_again() {
    let (mut server, mut a) = (Server::default(), machine("a"));
    play(&mut a, &mut server, at(0));
    server.lease = None;
    play(&mut a, &mut server, at(2000));
    assert!(leads(&mut a, at(2000)) && server.lease.is_some());
}

#[test]
fn a_lease_that_was_given_up_is_free_at_once() {
    let (mut server, mut a, mut b) = (Server::default(), machine("a"), machine("b"));
    play(&mut a, &mut server, at(0));
    play(&mut b, &mut server, at(0));
    let ask = a.leave(at(1000), Timestamp::UNIX_EPOCH).unwrap();
    server.answer(&ask);
    assert_eq!(a.standing(at(1000)), Standing::Left);
    assert_eq!(a.step(at(1000), Timestamp::UNIX_EPOCH), Step::Finished);
    play(&mut b, &mut server, at(2400));
    assert!(leads(&mut b, at(2400)));
    assert_eq!(
        b.leave(at(13_000), Timestamp::UNIX_EPOCH),
        None,
        "it was lost before"
    );
}

#[test]
fn refusals_and_conflicts_are_never_answered_without_a_pause() {
    for (answer, most) in [(Answer::Failed, 6), (Answer::Absent, 12), (Answer::Conflict, 12)] {
        let mut a = machine("a");
        let mut asked = 0;
        for millisecond in (0..10_000).step_by(10) {
            while let Step::Send(_) = a.step(at(millisecond), Timestamp::UNIX_EPOCH) {
                asked += 1;
                a.answered(answer.clone(), at(millisecond), at(millisecond));
            }
        }
        assert!((4..=most).contains(&asked), "{answer:?}: {asked}");
    }
}

#[test]
fn a_lease_of_another_kind_is_waited_for_and_told() {
    let (mut server, mut a, mut b) = (Server::default(), machine("a"), machine("b"));
    play(&mut a, &mut server, at(0));
    play(&mut b, &mut server, at(0));
    assert!(!b.is_foreign());
    server.lease.as_mut().unwrap().metadata.labels = None;
    server.version += 1;
    play(&mut b, &mut server, at(2500));
    assert!(b.is_foreign());
}
