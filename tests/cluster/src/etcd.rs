//! What tests do to etcd behind the API server's back, by its HTTP gateway.

use kube::{Client, Config};
use serde_json::{Value, json};

use crate::fault::Fault;

/// Compacts at the present revision, and answers it.
pub(crate) async fn compact(port: u16) -> Result<i64, Fault> {
    let client = client(port)?;
    let nothing = json!({ "key": "AA==" });
    let answer = post(&client, "/v3/kv/range", &nothing).await?;
    let revision = answer["header"]["revision"].as_str().unwrap_or_default();
    let compaction = json!({ "revision": revision, "physical": true });
    post(&client, "/v3/kv/compaction", &compaction).await?;
    Ok(revision.parse().unwrap_or_default())
}

fn client(port: u16) -> Result<Client, Fault> {
    let uri = http::Uri::builder()
        .scheme("http")
        .authority(format!("127.0.0.1:{port}"))
        .path_and_query("/")
        .build();
    let uri = uri.map_err(|error| Fault::api("reaching etcd")(kube::Error::HttpError(error)))?;
    Client::try_from(Config::new(uri)).map_err(Fault::api("reaching etcd"))
}

async fn post(client: &Client, path: &str, body: &Value) -> Result<Value, Fault> {
    let request = http::Request::post(path).body(body.to_string().into_bytes());
    let request = request.map_err(|error| Fault::api("reaching etcd")(kube::Error::HttpError(error)))?;
    client
        .request(request)
        .await
        .map_err(Fault::api(format!("asking etcd at {path}")))
}
