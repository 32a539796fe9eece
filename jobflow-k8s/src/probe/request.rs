//! The bytes of a probe's request, built from its parts: nothing in a path or a header can become another part.

use std::net::SocketAddr;

use jobflow_core::probe::HttpGet;

/// Who asks.
const AGENT: &str = concat!("jobflow-probe/", env!("CARGO_PKG_VERSION"));

/// The request for this address; none if a part can't be sent as one.
pub(super) fn bytes(get: &HttpGet, address: SocketAddr) -> Option<Vec<u8>> {
    let HttpGet {
        tls: _,
        path,
        headers,
    } = get;
    if !path.starts_with('/') || !path.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    let mut lines = vec![
        format!("GET {path} HTTP/1.1"),
        format!("Host: {address}"),
        "Connection: close".to_owned(),
    ];
    for (name, value) in [("User-Agent", AGENT), ("Accept", "*/*")] {
        if !headers.iter().any(|(own, _)| name.eq_ignore_ascii_case(own)) {
            lines.push(format!("{name}: {value}"));
        }
    }
    for (name, value) in headers.iter() {
        let one_line = |text: &str| {
            !text
                .chars()
                .any(|character| matches!(character, '\r' | '\n' | '\0'))
        };
        if !one_line(name) || !one_line(value) || name.contains(':') {
            return None;
        }
        lines.push(format!("{name}: {value}"));
    }
    Some((lines.join("\r\n") + "\r\n\r\n").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &str, header: Option<(&str, &str)>) -> Option<String> {
        let get = HttpGet {
            tls: false,
            path: path.into(),
            headers: header
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        };
        let bytes = bytes(&get, "[fd00::7]:8080".parse().unwrap())?;
        String::from_utf8(bytes).ok()
    }

    #[test]
    fn the_host_is_the_address_whatever_the_path_says() {
        let sent = text("/@169.254.169.254/?a=b", Some(("user-agent", "mine"))).unwrap();
        assert_eq!(
            sent,
            "GET /@169.254.169.254/?a=b HTTP/1.1\r\nHost: [fd00::7]:8080\r\nConnection: close\r\nAccept: */*\r\n\
             user-agent: mine\r\n\r\n"
        );
    }

    #[test]
    fn a_part_that_would_become_another_is_not_sent() {
        assert_eq!(text("/a HTTP/1.1\r\nX: y", None), None);
        assert_eq!(text("@host/", None), None);
        assert_eq!(text("/", Some(("X", "a\r\nY: b"))), None);
        assert_eq!(text("/", Some(("X\nY", "a"))), None);
    }
}
