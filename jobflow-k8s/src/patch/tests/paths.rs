use proptest::prelude::*;

use super::*;

#[test]
fn a_text_that_is_no_path_is_refused_with_its_place() {
    for (text, fault) in [
        ("", PathFault::Empty),
        (" ", PathFault::Empty),
        (".a", PathFault::NoField(1)),
        ("[a]", PathFault::NoField(1)),
        ("a..b", PathFault::NoField(3)),
        ("a b", PathFault::NoStep(2)),
        ("a[", PathFault::Open(2)),
        ("a[]", PathFault::NoElement(2)),
        ("a[\"x]", PathFault::Open(2)),
        ("ä", PathFault::NoField(1)),
        ("a[b]c", PathFault::NoStep(5)),
    ] {
        assert_eq!(text.parse::<Removal>(), Err(fault), "{text}");
    }
}

fn removal() -> impl Strategy<Value = Removal> {
    let field = "[A-Za-z0-9_$-]{1,6}".prop_map(Step::Field);
    let step = prop_oneof![field.clone(), ".{1,6}".prop_map(Step::Named)];
    (field, prop::collection::vec(step, 0..4)).prop_map(|(first, mut steps)| {
        steps.insert(0, first);
        Removal { steps }
    })
}

proptest! {
    #[test]
    fn text_and_path_are_the_same(removal in removal()) {
        prop_assert_eq!(removal.to_string().parse(), Ok(removal));
    }

    #[test]
    fn no_text_panics(text in ".*") {
        let _ = text.parse::<Removal>();
    }
}
