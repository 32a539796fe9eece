//! Laws of the gang machine, whatever its spec and whatever happens to its pods.

use crate::world::World;
use jobflow_core::gang::{
    Action, Admission, Command, DependsOn, Event, GangPlan, GangSpec, GangState, GangTask, Iteration, PodKey,
    PodPhase, PodView, Pods, Policy, step,
};
use jobflow_core::{Time, time::Span};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Something that happens to a gang.
#[derive(Clone, Debug)]
enum Happening {
    Shown(u32, u32, PodView),
    Vanished(u32, u32),
    Admitted(Admission),
    Told(Command),
    Passed(u64),
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_gang_comes_to_rest_and_then_asks_for_nothing_new(spec in spec(), happenings in vec(happening(), 0..24)) {
        let mut world = World::admitted(spec);
        for happening in happenings {
            happen(&mut world, happening);
            let again = look(&world, &world.state);
            prop_assert_eq!(&again.next, &world.state);
            prop_assert!(!again.written && again.start.is_empty() && again.stop.is_empty(), "{:?}", again);
        }
    }

    #[test]
    fn a_step_that_is_repeated_before_its_effects_decides_the_same(
        spec in spec(),
        happenings in vec(happening(), 0..12),
        command in command(),
    ) {
        let mut world = World::admitted(spec);
        happenings.into_iter().for_each(|happening| happen(&mut world, happening));
        let told = step(&world.spec, &world.state, &world.pods, Some(command), world.now);
        let settled = rest(&world, told);
        let again = look(&world, &settled.next);
        prop_assert_eq!(&again.next, &settled.next);
        prop_assert_eq!((again.start, again.stop), (settled.start, settled.stop));
    }

    #[test]
    fn no_task_has_more_pods_than_replicas(spec in spec(), happenings in vec(happening(), 0..24)) {
        let mut world = World::admitted(spec);
        for happening in happenings {
            happen(&mut world, happening);
            for (place, task) in world.spec.tasks.iter().enumerate() {
                let pods = world.pods.seen.keys().filter(|key| key.task as usize == place).count();
                prop_assert!(pods <= task.replicas as usize);
            }
        }
    }

    #[test]
    fn a_final_phase_stays_and_counters_only_grow(spec in spec(), happenings in vec(happening(), 0..24)) {
        let mut world = World::admitted(spec);
        for happening in happenings {
            let before = world.state.clone();
            happen(&mut world, happening);
            let (was, is) = (&before.status, &world.state.status);
            prop_assert!(!was.phase.is_final() || was.phase == is.phase);
            prop_assert!(was.version <= is.version && was.retry_count <= is.retry_count);
        }
    }

    #[test]
    fn any_pods_and_any_command_have_an_answer(
        spec in spec(),
        views in vec((pods(), option::of(command()), any::<i64>()), 1..12),
    ) {
        let mut state = GangState::new(Time(0));
        for (pods, command, now) in views {
            let plan = step(&spec, &state, &pods, command, Time(now));
            let place = |key: &PodKey| spec.tasks.get(key.task as usize).is_some_and(|task| key.index < task.replicas);
            prop_assert!(plan.start.iter().all(place));
            state = plan.next;
        }
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_state_that_was_written_down_and_read_again_plans_the_same(spec in spec(), happenings in vec(happening(), 0..24)) {
        let mut world = World::admitted(spec);
        for happening in happenings {
            happen(&mut world, happening);
            let text = serde_json::to_string(&world.state).unwrap();
            let read: GangState = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(look(&world, &read), look(&world, &world.state));
            let pods: Pods = serde_json::from_str(&serde_json::to_string(&world.pods).unwrap()).unwrap();
            prop_assert_eq!(&pods, &world.pods);
        }
    }
}

fn happen(world: &mut World, happening: Happening) {
    let mut command = None;
    match happening {
        Happening::Shown(task, index, view) => world.show(task, index, view),
        Happening::Vanished(task, index) => {
            let key = world.key(task, index);
            key.map(|key| world.pods.seen.remove(&key));
        }
        Happening::Admitted(admission) => world.pods.admission = admission,
        Happening::Told(told) => command = Some(told),
        Happening::Passed(seconds) => world.pass(Span::from_secs(seconds)),
    }
    world.settle(command);
}

fn look(world: &World, state: &GangState) -> GangPlan {
    step(&world.spec, state, &world.pods, None, world.now)
}

/// The plan at which nothing more is to be decided, with no effect carried out.
fn rest(world: &World, mut plan: GangPlan) -> GangPlan {
    for _ in 0..1000 {
        if plan.wake_at != Some(world.now) {
            return plan;
        }
        plan = look(world, &plan.next);
    }
    unreachable!("the gang doesn't come to rest: {plan:?}")
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        6 => (0..3_u32, 0..3_u32, view()).prop_map(|(task, index, view)| Happening::Shown(task, index, view)),
        1 => (0..3_u32, 0..3_u32).prop_map(|(task, index)| Happening::Vanished(task, index)),
        1 => admission().prop_map(Happening::Admitted),
        1 => command().prop_map(Happening::Told),
        1 => (0..400_u64).prop_map(Happening::Passed),
    ]
}

fn pods() -> impl Strategy<Value = Pods> {
    let key = (0..4_u32, 0..4_u32, 0..3_u32);
    let key = key.prop_map(|(task, index, incarnation)| PodKey {
        task,
        index,
        incarnation,
    });
    (admission(), btree_map(key, view(), 0..8)).prop_map(|(admission, seen)| Pods { admission, seen })
}

fn view() -> impl Strategy<Value = PodView> {
    let parts = (
        select(PodPhase::ALL),
        any::<bool>(),
        prop::bool::weighted(0.1),
        0..4_i32,
        0..3_u32,
    );
    parts.prop_map(|(phase, ready, terminating, code, restarts)| PodView {
        ready,
        terminating,
        exit_codes: vec![code],
        restarts,
        ..PodView::new(phase)
    })
}

fn admission() -> impl Strategy<Value = Admission> {
    select(vec![
        Admission::QueueMissing,
        Admission::Waiting,
        Admission::Granted,
        Admission::Granted,
        Admission::Unknown,
    ])
}

fn command() -> impl Strategy<Value = Command> {
    select(Command::ALL)
}

fn spec() -> impl Strategy<Value = GangSpec> {
    let parts = (
        0..6_u32,
        option::of(0..6_u32),
        0..4_u32,
        vec(policy(), 0..3),
        vec(task(), 0..3),
    );
    parts.prop_map(
        |(min_available, min_success, max_retry, policies, tasks)| GangSpec {
            min_available,
            min_success,
            max_retry,
            policies,
            tasks,
        },
    )
}

fn task() -> impl Strategy<Value = GangTask> {
    let depends_on = (vec(0..4_u32, 0..2), select(Iteration::ALL));
    let depends_on = option::weighted(
        0.3,
        depends_on.prop_map(|(tasks, iteration)| DependsOn { tasks, iteration }),
    );
    let parts = (
        0..4_u32,
        0..4_u32,
        option::of(0..4_u32),
        vec(policy(), 0..2),
        depends_on,
        option::of(0..3_u32),
    );
    parts.prop_map(
        |(replicas, min_available, max_retry, policies, depends_on, partition_size)| GangTask {
            name: format!("of-{replicas}"),
            replicas,
            min_available,
            max_retry,
            policies,
            depends_on,
            partition_size,
        },
    )
}

fn policy() -> impl Strategy<Value = Policy> {
    let parts = (
        vec(select(Event::ALL), 0..2),
        option::of(0..4_i32),
        select(Action::ALL),
        option::of(0..400_u64),
    );
    parts.prop_map(|(events, exit_code, action, timeout)| Policy {
        events,
        exit_code,
        action,
        timeout: timeout.map(Span::from_secs),
    })
}
