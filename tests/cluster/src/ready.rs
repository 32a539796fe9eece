//! Waiting until something is so, with an end to the patience.

use std::future::Future;
use std::panic::resume_unwind;
use std::time::Duration;

use kube::Client;
use tokio::time::{Instant, sleep};

use crate::fault::Fault;
use crate::program::Program;

/// A machine with little to spare takes half a minute where an idle one takes five seconds.
const PATIENCE: Duration = Duration::from_secs(180);
const PAUSE: Duration = Duration::from_millis(50);

/// Waits until the API server says that it is ready; the programs that it takes are the last of `programs` and those
/// that it needs.
pub(crate) async fn api_server(client: &Client, programs: &mut [&mut Program]) -> Result<(), Fault> {
    let deadline = Instant::now() + PATIENCE;
    while !is_ready(client).await {
        for program in programs.iter_mut() {
            program.check()?;
        }
        if let Some(program) = programs.last().filter(|_| Instant::now() > deadline) {
            return Err(program.not_ready(PATIENCE.as_secs()));
        }
        sleep(PAUSE).await;
    }
    Ok(())
}

async fn is_ready(client: &Client) -> bool {
    let Ok(request) = http::Request::get("/readyz").body(Vec::new()) else {
        return false;
    };
    client
        .request_text(request)
        .await
        .is_ok_and(|answer| answer == "ok")
}

/// Asks again and again until there is an answer.
pub(crate) async fn wait_for<T, F>(what: &str, mut ask: impl FnMut() -> F) -> Result<T, Fault>
where
    F: Future<Output = Result<Option<T>, Fault>>,
{
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask().await? {
            return Ok(answer);
        }
        if Instant::now() > deadline {
            return Err(Fault::Late {
                what: what.to_owned(),
                seconds: PATIENCE.as_secs(),
            });
        }
        sleep(PAUSE).await;
    }
}

/// Runs a future on a thread and runtime of its own, since whoever starts a control plane may be in one already.
pub(crate) fn block_on<T: Send>(future: impl Future<Output = T> + Send) -> Result<T, Fault> {
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(Fault::file("the runtime"))?;
        Ok(runtime.block_on(future))
    };
    std::thread::scope(|scope| {
        scope
            .spawn(run)
            .join()
            .unwrap_or_else(|panic| resume_unwind(panic))
    })
}
