//! A server that takes a while to warm up: `serve PORT SECONDS FILE` listens at `$POD_IP`, answers `/healthz` with 503 for
//! so many seconds and with 200 then, and ends when the file is there.

use std::error::Error;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [port, seconds, file] = arguments.as_slice() else {
        return Err("usage: serve PORT SECONDS FILE".into());
    };
    let address = env::var("POD_IP").unwrap_or_else(|_| "127.0.0.1".to_owned());
    let listener = TcpListener::bind((address.as_str(), port.parse()?))?;
    listener.set_nonblocking(true)?;
    let warm = Instant::now() + Duration::from_secs(seconds.parse()?);
    while !Path::new(file).exists() {
        match listener.accept() {
            Ok((stream, _)) => {
                let is_warm = Instant::now() >= warm;
                if is_warm {
                    fs::write(format!("warm-{address}"), "warm\n")?;
                }
                // Whoever hangs up early asks again.
                let _ = answer(stream, is_warm);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(Duration::from_millis(20)),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn answer(mut stream: TcpStream, is_warm: bool) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    let _ = stream.read(&mut [0; 1024])?;
    let status = if is_warm {
        "200 OK"
    } else {
        "503 Service Unavailable"
    };
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n")
}
