//! From a request to its answer, with whatever befalls it on the way.
//!
//! Each request takes a millisecond there and one back, so that a client can be interrupted before and after, and so
//! that no loop goes on for ever at one moment.

use std::io::{Error, ErrorKind};
use std::time::Duration;

use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Bytes;
use kube::client::Body;
use serde_json::Value;
use tokio::time::sleep;

use super::Service;
use super::call::{Call, Verb};
use super::fault::Fault;
use super::log::Entry;
use super::refusal::Refusal;
use super::state::State;
use super::watch::Watch;
use super::{create, delete, discovery, patch, read, replace};

type Answer = Response<UnsyncBoxBody<Bytes, Error>>;

/// The way there, and the way back.
const WAY: Duration = Duration::from_millis(1);

/// How long a client of kube's waits for something to read.
const READ_TIMEOUT: Duration = Duration::from_secs(295);

/// The largest body that the server reads, in bytes.
const LARGEST: usize = 3_145_728;

pub(super) async fn answer(
    service: Service,
    who: String,
    replica: usize,
    request: Request<Body>,
) -> Result<Answer, Error> {
    let call = Call::read(who, replica, request).await.map_err(Error::other)?;
    sleep(WAY).await;
    let (place, fault) = arrive(&service, &call);
    let done = match fault {
        None => carry_out(&service, &call, place),
        Some(Fault::Refused(refusal)) => Err(refusal),
        Some(Fault::Recorded(word)) => Err(Refusal::recorded(word, &call.name)),
        Some(Fault::Answered(code, object)) => Ok(Done::Object(code, object)),
        Some(Fault::LostRequest) => return lost(),
        Some(Fault::Silence) => return silence().await,
        Some(Fault::Slow(time)) => {
            sleep(time).await;
            carry_out(&service, &call, place)
        }
        Some(Fault::Late(time)) => {
            tokio::spawn(later(service, call, place, time));
            return lost();
        }
        Some(Fault::DoneAndRefused(refusal)) => carry_out(&service, &call, place).and(Err(refusal)),
        Some(Fault::LostReply) => {
            drop(carry_out(&service, &call, place));
            return lost();
        }
        Some(Fault::DoneInSilence) => {
            drop(carry_out(&service, &call, place));
            return silence().await;
        }
    };
    let answer = encode(done);
    service.lock().log[place].code = Some(answer.status().as_u16());
    sleep(WAY).await;
    Ok(answer)
}

async fn later(service: Service, call: Call, place: usize, time: Duration) {
    sleep(time).await;
    drop(carry_out(&service, &call, place));
}

fn arrive(service: &Service, call: &Call) -> (usize, Option<Fault>) {
    let mut state = service.lock();
    let entry = Entry::of(call, state.clock.elapsed());
    state.log.push(entry);
    let fault = state.faults.strike(call);
    (state.log.len() - 1, fault)
}

/// A client reads for so long, and then takes the connection for broken: the time of `kube::Config`.
async fn silence() -> Result<Answer, Error> {
    sleep(READ_TIMEOUT).await;
    Err(Error::new(ErrorKind::TimedOut, "nothing was read"))
}

fn lost() -> Result<Answer, Error> {
    Err(Error::new(ErrorKind::ConnectionReset, "connection reset by peer"))
}

/// What is answered, if it isn't a refusal.
enum Done {
    Object(u16, Value),
    Watch(Box<Watch>),
}

fn carry_out(service: &Service, call: &Call, place: usize) -> Result<Done, Refusal> {
    service.act(|state| {
        let done = attempt(service, state, call);
        state.log[place].carried_out = done.is_ok();
        done
    })
}

fn attempt(service: &Service, state: &mut State, call: &Call) -> Result<Done, Refusal> {
    if call.size > LARGEST {
        return Err(Refusal::too_large());
    }
    let Some((kind, key)) = call.kind.zip(call.key()) else {
        return discovery::discover(state, call).map(|object| Done::Object(200, object));
    };
    if state.gone.contains(&kind) {
        return Err(Refusal::no_such_path());
    }
    let found = |object| Done::Object(200, object);
    let body = || call.body.clone();
    match call.verb {
        Verb::Get => read::get(state, call, &key).map(found),
        Verb::List => read::list(state, call, kind).map(found),
        Verb::Watch => Watch::begin(service, state, call, kind).map(|watch| Done::Watch(Box::new(watch))),
        Verb::Create => {
            create::create(state, kind, &call.namespace, body()).map(|object| Done::Object(201, object))
        }
        Verb::Replace => replace::replace(state, &key, call.part, body()).map(found),
        Verb::Patch => patch::patch(state, &key, call.part, &call.format, body()).map(found),
        Verb::Delete => delete::delete(state, &key, &call.body).map(found),
        Verb::Other => Err(Refusal::method_not_allowed()),
    }
}

fn encode(done: Result<Done, Refusal>) -> Answer {
    let json = |value: &Value| match value {
        Value::String(text) => ("text/plain; charset=utf-8", text.clone()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            ("application/json", value.to_string())
        }
    };
    let (code, retry_after, (kind, body)) = match done {
        Ok(Done::Watch(watch)) => {
            let body = StreamBody::new(watch.frames()).boxed_unsync();
            return respond(200, None, "application/json", body);
        }
        Ok(Done::Object(code, object)) => (code, None, json(&object)),
        Err(refusal) => (refusal.code, refusal.retry_after, json(&refusal.body)),
    };
    let body = Full::new(Bytes::from(body))
        .map_err(|never| match never {})
        .boxed_unsync();
    respond(code, retry_after, kind, body)
}

fn respond(
    code: u16,
    retry_after: Option<u32>,
    kind: &'static str,
    body: UnsyncBoxBody<Bytes, Error>,
) -> Answer {
    let mut response = Response::builder().status(code).header("content-type", kind);
    if let Some(seconds) = retry_after {
        response = response.header("retry-after", seconds);
    }
    response.body(body).expect("its parts are valid")
}
