//! Electors against an API service in this process, under tokio's paused clock.

use std::sync::Mutex;
use std::time::Duration;

use http::{Method, Request, Response, StatusCode};
use kube::client::Body;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tower::BoxError;

use super::super::claim::Identity;
use super::super::timings::Timings;
use super::*;
use crate::testing::TokioClock;

/// One lease with versions.
#[derive(Default)]
struct Server {
    lease: Option<Value>,
    version: u64,
    requests: u64,
}

/// What is wrong between a controller and the server.
#[derive(Clone, Copy, Default, PartialEq)]
enum Trouble {
    #[default]
    None,
    /// Requests don't arrive, and are never answered.
    Silence,
    /// Requests arrive, and are never answered.
    AnswersLost,
    /// Requests are refused.
    Forbidden,
}

impl Server {
    fn answer(&mut self, method: &Method, body: Option<Value>) -> (StatusCode, Value) {
        self.requests += 1;
        match (method, body, self.lease.clone()) {
            (&Method::GET, _, Some(lease)) => (StatusCode::OK, lease),
            (&Method::POST, Some(new), None) => self.store(new),
            (&Method::PUT, Some(new), Some(old)) if version(&new) == version(&old) => self.store(new),
            (&Method::POST | &Method::PUT, _, Some(_)) => failure(StatusCode::CONFLICT),
            _ => failure(StatusCode::NOT_FOUND),
        }
    }

    fn store(&mut self, mut lease: Value) -> (StatusCode, Value) {
        self.version += 1;
        lease["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.lease = Some(lease.clone());
        (StatusCode::OK, lease)
    }

    fn holder(&self) -> &str {
        let holder = self.lease.as_ref().map(|lease| &lease["spec"]["holderIdentity"]);
        holder.and_then(Value::as_str).unwrap_or_default()
    }
}

fn version(lease: &Value) -> &Value {
    &lease["metadata"]["resourceVersion"]
}

fn failure(code: StatusCode) -> (StatusCode, Value) {
    let reason = code.canonical_reason().unwrap_or_default().replace(' ', "");
    let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code.as_u16(), "reason": reason, "message": "no"});
    (code, body)
}

/// A controller in an election.
struct Candidate {
    leadership: watch::Receiver<Leadership>,
    trouble: Arc<Mutex<Trouble>>,
    leave: CancellationToken,
    task: JoinHandle<()>,
}

impl Candidate {
    fn start(me: &str, server: &Arc<Mutex<Server>>) -> Self {
        let name = LeaseName {
            namespace: "jobflow-system".to_owned(),
            name: "jobflow-controller".to_owned(),
        };
        let trouble = Arc::default();
        let machine = Machine::new(Identity::new(me, 0), name.clone(), Timings::default(), 3);
        let client = client(Arc::clone(server), Arc::clone(&trouble));
        let (elector, leadership) = Elector::new(client, &name, machine, Arc::new(TokioClock::default()));
        let leave = CancellationToken::new();
        let task = tokio::spawn(elector.run(leave.clone()));
        Self {
            leadership,
            trouble,
            leave,
            task,
        }
    }

    fn suffers(&self, trouble: Trouble) {
        *self.trouble.lock().unwrap() = trouble;
    }

    fn term(&self) -> Option<LeaseTerm> {
        match &*self.leadership.borrow() {
            Leadership::Leading(term) => Some(term.clone()),
            Leadership::Following(_) => None,
        }
    }

    fn may_write(&self) -> bool {
        self.term().is_some_and(|term| term.holds_for(Duration::ZERO))
    }
}

fn client(server: Arc<Mutex<Server>>, trouble: Arc<Mutex<Trouble>>) -> Client {
    let service = tower::service_fn(move |request: Request<Body>| {
        let (server, trouble) = (Arc::clone(&server), *trouble.lock().unwrap());
        async move {
            let method = request.method().clone();
            let body = request.into_body().collect_bytes().await?;
            if trouble == Trouble::Silence {
                std::future::pending::<()>().await;
            }
            let (code, body) = match trouble {
                Trouble::Forbidden => failure(StatusCode::FORBIDDEN),
                Trouble::None | Trouble::Silence | Trouble::AnswersLost => server
                    .lock()
                    .unwrap()
                    .answer(&method, serde_json::from_slice(&body).ok()),
            };
            if trouble == Trouble::AnswersLost {
                std::future::pending::<()>().await;
            }
            let body = Body::from(serde_json::to_vec(&body)?);
            Ok::<_, BoxError>(Response::builder().status(code).body(body)?)
        }
    });
    Client::new(service, "default")
}

/// Waits until something holds, and says how long that took.
async fn until(limit: u64, mut holds: impl FnMut() -> bool) -> Duration {
    let start = tokio::time::Instant::now();
    while !holds() {
        assert!(
            start.elapsed() < Duration::from_secs(limit),
            "not within {limit} s"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    start.elapsed()
}

#[tokio::test(start_paused = true)]
async fn one_of_two_leads_and_the_other_follows_it_when_it_is_gone() {
    let server = Arc::default();
    let (a, b) = (Candidate::start("a", &server), Candidate::start("b", &server));
    until(1, || a.may_write() || b.may_write()).await;
    let (leader, other) = if a.may_write() { (a, b) } else { (b, a) };
    for _ in 0..600 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(leader.may_write() && !other.may_write());
    }
    leader.task.abort();
    let gap = until(30, || other.may_write()).await;
    assert!(gap > Duration::from_secs(12), "{gap:?}");
    assert!(!leader.may_write());
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_reaches_nobody_stops_writing_before_another_begins() {
    for trouble in [Trouble::Silence, Trouble::Forbidden] {
        let server = Arc::default();
        let a = Candidate::start("a", &server);
        until(1, || a.may_write()).await;
        let term = a.term().unwrap();
        let b = Candidate::start("b", &server);
        a.suffers(trouble);
        let stopped = until(12, || !a.may_write()).await;
        assert!(stopped >= Duration::from_secs(8), "{stopped:?}");
        term.lost().await;
        assert!(!b.may_write());
        until(20, || b.may_write()).await;
        a.suffers(Trouble::None);
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert!(!a.may_write() && b.may_write() && !term.holds_for(Duration::ZERO));
    }
}

#[tokio::test(start_paused = true)]
async fn lost_answers_never_make_two_leaders() {
    let server = Arc::default();
    let (a, b) = (Candidate::start("a", &server), Candidate::start("b", &server));
    for second in 0..300_u32 {
        let lost = |candidate: &Candidate, period: u32| {
            candidate.suffers(match second % period < period / 2 {
                true => Trouble::AnswersLost,
                false => Trouble::None,
            });
        };
        lost(&a, 14);
        lost(&b, 22);
        for _ in 0..50 {
            tokio::time::sleep(Duration::from_millis(20)).await;
            assert!(!(a.may_write() && b.may_write()), "{second}");
        }
    }
    a.suffers(Trouble::None);
    b.suffers(Trouble::None);
    until(30, || a.may_write() || b.may_write()).await;
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_leaves_is_followed_at_once_and_in_a_new_term() {
    let server: Arc<Mutex<Server>> = Arc::default();
    let a = Candidate::start("a", &server);
    until(1, || a.may_write()).await;
    let b = Candidate::start("b", &server);
    tokio::time::sleep(Duration::from_secs(5)).await;
    let term = a.term().unwrap();
    a.leave.cancel();
    a.task.await.unwrap();
    assert!(!term.holds_for(Duration::ZERO));
    assert_eq!(server.lock().unwrap().holder(), "");
    let gap = until(5, || b.may_write()).await;
    assert!(gap < Duration::from_millis(2500), "{gap:?}");
}

#[tokio::test(start_paused = true)]
async fn one_that_follows_gives_up_no_lease_of_another() {
    let server: Arc<Mutex<Server>> = Arc::default();
    let a = Candidate::start("a", &server);
    until(1, || a.may_write()).await;
    let b = Candidate::start("b", &server);
    tokio::time::sleep(Duration::from_secs(5)).await;
    b.leave.cancel();
    b.task.await.unwrap();
    assert!(a.may_write() && server.lock().unwrap().holder().starts_with("a_"));
}

#[tokio::test(start_paused = true)]
async fn a_term_that_was_lost_is_followed_by_another_one() {
    let server = Arc::default();
    let a = Candidate::start("a", &server);
    until(1, || a.may_write()).await;
    a.suffers(Trouble::Silence);
    until(12, || !a.may_write()).await;
    a.suffers(Trouble::None);
    until(10, || a.may_write()).await;
    assert_eq!(a.term().unwrap().number(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_election_asks_about_every_two_seconds() {
    let server: Arc<Mutex<Server>> = Arc::default();
    let (_a, _b) = (Candidate::start("a", &server), Candidate::start("b", &server));
    tokio::time::sleep(Duration::from_secs(100)).await;
    let requests = server.lock().unwrap().requests;
    assert!((80..=110).contains(&requests), "{requests}");
}
