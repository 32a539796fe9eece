//! A node of the cluster whose kubelet serves logs and nothing else: the API server asks it as it asks any other.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

use crate::world::World;

/// Makes a node, and serves the logs of its containers: each log tells what was asked for.
pub(crate) fn node(world: &World) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = Arc::new(config());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let config = Arc::clone(&config);
            std::thread::spawn(move || serve(stream, config));
        }
    });
    let name = format!("node-{}", world.namespace);
    world.create_anywhere(
        json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name } }),
        &json!({
            "addresses": [{ "type": "InternalIP", "address": "127.0.0.1" }],
            "daemonEndpoints": { "kubeletEndpoint": { "Port": port } },
        }),
    );
    name
}

fn config() -> ServerConfig {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap()
}

/// Answers one request. Whoever asks may go away in between.
fn serve(stream: TcpStream, config: Arc<ServerConfig>) -> Option<()> {
    let mut stream = StreamOwned::new(ServerConnection::new(config).ok()?, stream);
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        request.extend_from_slice(&byte);
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let target = request.split(' ').nth(1)?;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let container = path.rsplit('/').next()?;
    let answer = match container {
        "broken" => "HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\n\r\nno log today".to_owned(),
        _ => {
            let pod = path.rsplit('/').nth(1)?;
            format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n{pod} {container} {query}\n\u{1b}[31mred\nno end"
            )
        }
    };
    stream.write_all(answer.as_bytes()).ok()?;
    stream.conn.send_close_notify();
    stream.flush().ok()
}
