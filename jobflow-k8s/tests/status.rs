//! The law of the status: a controller that knows nothing but what is stored plans as one that never forgot.

#![expect(clippy::unwrap_used, reason = "a test says so when something is missing")]

#[path = "status/flows.rs"]
mod flows;
#[path = "status/law.rs"]
mod law;

use flows::{Dice, scripts};
use jobflow_core::{Span, Time};
use law::Kept;

#[test]
fn every_script_is_played_alike_from_what_is_stored() {
    for (name, script) in scripts() {
        let plain = script.play().unwrap();
        let mut kept = Kept::of_script(&script);
        let mut acts = script.acts.iter().peekable();
        let end = plain.now + Span::from_secs(1);
        let step = Span(50).max(Span(end.since(Time(0)).0 / 30));
        let mut now = Time(0);
        while now <= end {
            while let Some((at, act)) = acts.next_if(|(at, _)| *at <= now) {
                kept.world.run(Some(*at));
                kept.perform(act);
            }
            kept.world.run(Some(now));
            kept.check(&name);
            kept.read_back();
            now = now + step;
        }
        let differences = script.differences(&kept.world.graph, &kept.world.history, kept.world.phase());
        assert!(differences.is_empty(), "{name}: {differences:?}");
        assert!(
            kept.world.violations.is_empty(),
            "{name}: {:?}",
            kept.world.violations
        );
    }
}

#[test]
fn random_flows_are_planned_alike_from_what_is_stored_at_every_step() {
    for seed in 0..20 {
        let mut kept = Kept::of_random(seed);
        let mut dice = Dice(seed);
        let name = format!("seed {seed}");
        kept.settle(&name);
        for _ in 0..10_000 {
            dice.wish(&mut kept);
            kept.settle(&name);
            let pending = kept.world.pending();
            if !pending.is_empty() && !dice.one_in(8) {
                let pick = usize::try_from(dice.roll(pending.len() as u64)).unwrap();
                kept.world.now = kept.world.now + Span(dice.roll(3_000));
                kept.world.advance(pending[pick]);
            } else if let Some(at) = kept.world.wake_at().filter(|at| *at > kept.world.now) {
                kept.world.now = at;
            } else if pending.is_empty() && !kept.resumes() {
                break;
            }
            if dice.one_in(3) {
                kept.world.forget();
            }
            kept.settle(&name);
        }
        assert!(
            kept.world.violations.is_empty(),
            "{name}: {:#?}",
            kept.world.violations
        );
        assert!(kept.world.phase().is_end(), "{name}: {}", kept.shown());
    }
}
