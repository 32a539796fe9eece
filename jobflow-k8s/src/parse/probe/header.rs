//! The header of a probe's request: one of the author's own, and none that says where a message ends or whom it is for.

use crate::fault::{Code, Fault, FieldPath};
use crate::types::HttpHeader;

/// Headers that would change how the request is read, or to whom it goes.
const REFUSED: [&str; 8] = [
    "content-length",
    "transfer-encoding",
    "connection",
    "upgrade",
    "te",
    "trailer",
    "expect",
    "host",
];

/// The longest name and value that are sent.
const MOST_NAME: usize = 256;
const MOST_VALUE: usize = 4096;

/// The header to send; one with an empty name is none, since Volcano's client always writes one. One that can't be
/// sent is noted, its value never told.
pub(super) fn of<'a>(
    header: Option<&'a HttpHeader>,
    path: &FieldPath,
    faults: &mut Vec<Fault>,
) -> Option<(&'a str, &'a str)> {
    let HttpHeader { name, value } = header?;
    let name = name.as_deref().filter(|name| !name.is_empty())?;
    let value = value.as_deref().unwrap_or_default();
    let before = faults.len();
    if !is_token(name) {
        let fault = Fault::error(Code::BadValue, path.field("name"), "not the name of a header");
        faults.push(fault.with_help("letters, digits and !#$%&'*+-.^_`|~ make one, 256 at most"));
    } else if is_refused(name) {
        let message = format!("a probe sends no header `{name}`: it would change whom or how it asks");
        faults.push(Fault::error(Code::BadValue, path.field("name"), message));
    }
    if value.len() > MOST_VALUE || !value.bytes().all(is_plain) {
        let message = "the value of a header is one line of ASCII, 4096 bytes at most";
        faults.push(Fault::error(Code::BadValue, path.field("value"), message));
    }
    (faults.len() == before).then_some((name, value))
}

fn is_token(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    name.len() <= MOST_NAME && name.bytes().all(plain)
}

fn is_refused(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    REFUSED.contains(&name.as_str()) || name.starts_with("proxy-")
}

fn is_plain(byte: u8) -> bool {
    byte == b'\t' || (b' '..=b'~').contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, value: &str) -> (bool, Vec<String>) {
        let header = HttpHeader {
            name: Some(name.to_owned()),
            value: Some(value.to_owned()),
        };
        let mut faults = Vec::new();
        let is_sent = of(Some(&header), &FieldPath::root(), &mut faults).is_some();
        (is_sent, faults.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_header_with_an_empty_name_is_none() {
        assert_eq!(read("", "x"), (false, Vec::new()));
        assert_eq!(read("", "a\r\nb"), (false, Vec::new()));
        assert_eq!(read("X-Check", "ready please"), (true, Vec::new()));
    }

    #[test]
    fn no_header_changes_where_a_message_ends_or_whom_it_is_for() {
        for name in [
            "Content-Length",
            "transfer-encoding",
            "CONNECTION",
            "Upgrade",
            "TE",
            "Trailer",
            "Expect",
            "Proxy-Authorization",
            "proxy-connection",
            "Host",
            "a b",
            "a:b",
            "a\r\nb",
            "ü",
        ] {
            let (is_sent, faults) = read(name, "x");
            assert!(!is_sent && faults.len() == 1, "{name}: {faults:?}");
        }
    }

    #[test]
    fn a_bad_value_is_refused_and_not_told() {
        for value in ["a\r\nHost: b", "a\0", "ü", &"x".repeat(5000)] {
            let (is_sent, faults) = read("X-Token", value);
            assert!(!is_sent && !faults[0].contains(value), "{faults:?}");
        }
    }
}
