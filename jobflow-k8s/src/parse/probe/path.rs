//! The path of a probe's request: what may stand after the host, and nothing that could be taken for another host.

use crate::fault::{Code, Fault, FieldPath};

/// The longest path that is sent.
const MOST_PATH: usize = 2048;

/// The path to send; `/` when none is written. One that can't be sent is noted.
pub(super) fn of<'a>(written: Option<&'a str>, path: &FieldPath, faults: &mut Vec<Fault>) -> &'a str {
    let written = written.filter(|written| !written.is_empty()).unwrap_or("/");
    if let Some((message, help)) = wrong(written) {
        faults.push(Fault::error(Code::BadValue, path.clone(), message).with_help(help));
    }
    written
}

/// What is wrong with a path, and what to do about it.
fn wrong(written: &str) -> Option<(&'static str, &'static str)> {
    if written.len() > MOST_PATH {
        return Some(("the path is longer than 2048 bytes", "shorten it"));
    }
    if !written.starts_with('/') || written.starts_with("//") {
        return Some((
            "a path begins with one `/`: anything else could be taken for another host",
            "the host is always the pod that is probed",
        ));
    }
    if !written.bytes().all(is_allowed) || !has_whole_escapes(written) {
        return Some((
            "the path has characters that can't stand in a request",
            "letters, digits and -._~!$&'()*+,;=:@/? may; write others as %XX",
        ));
    }
    None
}

/// Path and query of RFC 3986; a fragment is never sent.
fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?%".contains(&byte)
}

fn has_whole_escapes(written: &str) -> bool {
    let is_hex = |digit: Option<u8>| digit.is_some_and(|digit| digit.is_ascii_hexdigit());
    written.split('%').skip(1).all(|rest| {
        let mut digits = rest.bytes();
        is_hex(digits.next()) && is_hex(digits.next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_can_name_no_other_host_and_end_no_line() {
        for good in [
            "/",
            "/healthz?full=1&x=a%20b",
            "/@169.254.169.254/",
            "/a//b",
            "/~user/*",
        ] {
            assert_eq!(wrong(good), None, "{good}");
        }
        let long = format!("/{}", "a".repeat(MOST_PATH));
        for bad in [
            "@169.254.169.254/",
            ":80@169.254.169.254/",
            "//169.254.169.254/",
            "http://169.254.169.254/",
            "healthz",
            "/a b",
            "/a\r\nHost: b",
            "/a\\b",
            "/a#b",
            "/%",
            "/%2",
            "/%zz",
            "/ü",
            &long,
        ] {
            assert!(wrong(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn no_path_is_the_root() {
        let mut faults = Vec::new();
        let path = FieldPath::root();
        assert_eq!(
            (of(None, &path, &mut faults), of(Some(""), &path, &mut faults)),
            ("/", "/")
        );
        assert_eq!(faults, []);
    }
}
