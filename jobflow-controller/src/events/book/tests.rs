use super::*;

fn flow(namespace: &str, name: &str) -> About {
    About {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        uid: format!("{namespace}-{name}"),
    }
}

fn node(reason: &'static str, name: &str) -> Subject {
    Subject {
        reason,
        because: None,
        warning: false,
        node: Some((name.to_owned(), 1)),
        message: None,
    }
}

fn at(seconds: u64) -> Moment {
    Moment(Duration::from_secs(seconds))
}

fn texts(notes: &[Note]) -> Vec<&str> {
    notes.iter().map(|note| note.text.as_str()).collect()
}

#[test]
fn each_transition_is_told_once_and_in_order() {
    let mut book = Book::default();
    let about = flow("a", "f");
    for reason in ["Submitting", "Running", "Succeeded"] {
        book.add(&about, node(reason, "train"));
    }
    let failed = Subject {
        because: Some("Timeout"),
        warning: true,
        message: Some("took 5 s".to_owned()),
        node: Some(("test".to_owned(), 2)),
        ..node("Failed", "test")
    };
    book.add(&about, failed);
    let notes = book.due(10, at(0));
    let expected = [
        "train is Submitting",
        "train is Running",
        "train is Succeeded",
        "test (attempt 2) is Failed, Timeout: took 5 s",
    ];
    assert_eq!(texts(&notes), expected);
    assert_eq!(
        notes.iter().map(|note| note.warning).collect::<Vec<_>>(),
        [false, false, false, true]
    );
    assert_eq!(book.due(10, at(1)), []);
}

#[test]
fn what_is_alike_and_comes_at_once_is_one_note() {
    let mut book = Book::default();
    for index in 0..1000 {
        book.add(&flow("a", "f"), node("Succeeded", &format!("n{index}")));
    }
    let notes = book.due(10, at(0));
    assert_eq!(
        texts(&notes),
        ["1000 nodes are Succeeded: n0, n1, n2, n3, n4, n5, n6, n7 and 992 more"]
    );
}

#[test]
fn a_flow_that_was_told_about_enough_waits_and_folds() {
    let mut book = Book::default();
    let about = flow("a", "f");
    let mut told = 0;
    for second in 0..100 {
        book.add(&about, node("Running", &format!("n{second}")));
        told += book.due(10, at(second)).len();
    }
    let allowed = usize::try_from(BURST).unwrap() + 6;
    assert!((allowed - 1..=allowed + 1).contains(&told), "{told}");
    let rest = book.due(10, at(1000));
    assert_eq!(rest.len(), 1);
    assert!(
        rest.first().unwrap().text.contains("nodes are Running"),
        "{rest:?}"
    );
}

#[test]
fn a_loud_namespace_delays_only_itself() {
    let mut book = Book::default();
    for index in 0..500 {
        book.add(&flow("loud", &format!("f{index}")), node("Running", "n"));
    }
    book.add(&flow("quiet", "f"), node("Running", "n"));
    let notes = book.due(4, at(0));
    assert!(notes.iter().any(|note| note.about.namespace == "quiet"));
    let mut told = notes.len();
    for second in 1..100 {
        told += book.due(20, at(second)).len();
    }
    assert_eq!(told, 501);
}

#[test]
fn memory_is_bounded_and_what_is_dropped_is_counted() {
    let mut book = Book::default();
    for index in 0..MOST_FLOWS + 7 {
        book.add(&flow("a", &format!("f{index}")), node("Running", "n"));
    }
    assert_eq!(book.dropped(), 7);
    assert_eq!(book.dropped(), 0);
}

#[test]
fn a_flow_that_may_not_be_told_about_does_not_hold_up_the_others() {
    let mut book = Book::default();
    let about = flow("a", "loud");
    for second in 0..u64::from(BURST) + 5 {
        book.add(&about, node("Running", &second.to_string()));
        book.due(1, at(0));
    }
    book.add(&flow("a", "other"), node("Running", "n"));
    book.add(&flow("b", "other"), node("Running", "n"));
    assert_eq!(book.due(10, at(0)).len(), 2);
}

#[test]
fn the_same_transitions_have_the_same_digest_and_others_another() {
    let digest = |name: &str, uid: &str| {
        let mut book = Book::default();
        book.add(&flow("a", uid), node("Running", name));
        book.due(1, at(0)).first().unwrap().digest
    };
    assert_eq!(digest("n", "f"), digest("n", "f"));
    assert_ne!(digest("n", "f"), digest("m", "f"));
    assert_ne!(digest("n", "f"), digest("n", "g"));
}
