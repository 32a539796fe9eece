//! The status of an answer: the first line of HTTP/1, after those of interim answers. Nothing else is read.

/// What the bytes so far come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// More bytes are needed.
    Unfinished,
    /// The status of the answer.
    Status(u16),
    /// This isn't an answer.
    Bad,
}

/// Reads as much of an answer as has come.
pub(super) fn read(mut bytes: &[u8]) -> Reading {
    loop {
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            return unfinished(bytes);
        };
        let Some(status) = bytes.get(..end).and_then(status) else {
            return Reading::Bad;
        };
        if !(100..200).contains(&status) || status == 101 {
            return Reading::Status(status);
        }
        // An interim answer: the real one follows its headers.
        match after_head(bytes) {
            Some(rest) => bytes = rest,
            None => return Reading::Unfinished,
        }
    }
}

/// A line that can't become a status line any more is bad before its end.
fn unfinished(bytes: &[u8]) -> Reading {
    let begin = b"HTTP/1.";
    let length = bytes.len().min(begin.len());
    if bytes.get(..length) == begin.get(..length) {
        Reading::Unfinished
    } else {
        Reading::Bad
    }
}

/// The status of a line such as `HTTP/1.1 204 No Content`.
fn status(line: &[u8]) -> Option<u16> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let rest = line.strip_prefix(b"HTTP/1.")?;
    let [b'0' | b'1', b' ', a, b, c, rest @ ..] = rest else {
        return None;
    };
    let ends = rest.first().is_none_or(|byte| *byte == b' ');
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| u16::from(byte - b'0'));
    let status = digit(a)? * 100 + digit(b)? * 10 + digit(c)?;
    (ends && status >= 100).then_some(status)
}

fn after_head(bytes: &[u8]) -> Option<&[u8]> {
    let mut line = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if *byte != b'\n' {
            continue;
        }
        if matches!(bytes.get(line..at), Some(b"" | b"\r")) {
            return bytes.get(at + 1..);
        }
        line = at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_line_of_an_answer_is_read() {
        for (text, reading) in [
            ("HTTP/1.1 200 OK\r\n", Reading::Status(200)),
            ("HTTP/1.0 404\r\nrubbish", Reading::Status(404)),
            ("HTTP/1.1 503 Out\nof", Reading::Status(503)),
            (
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n",
                Reading::Status(204),
            ),
            (
                "HTTP/1.1 103 Hints\r\nLink: a\r\n\r\nHTTP/1.1 3",
                Reading::Unfinished,
            ),
            ("HTTP/1.1 103 Hints\r\nLink: a\r\n", Reading::Unfinished),
            ("HTTP/1.1 101 Switching\r\n\r\n", Reading::Status(101)),
            ("", Reading::Unfinished),
            ("HTT", Reading::Unfinished),
            ("HTTP/1.1 2", Reading::Unfinished),
            ("SSH-2.0-", Reading::Bad),
            ("HTTP/2 200\r\n", Reading::Bad),
            ("HTTP/1.1 2000 OK\r\n", Reading::Bad),
            ("HTTP/1.1 099 x\r\n", Reading::Bad),
            ("HTTP/1.1 OK\r\n", Reading::Bad),
            ("\n", Reading::Bad),
        ] {
            assert_eq!(read(text.as_bytes()), reading, "{text:?}");
        }
    }

    #[test]
    fn it_makes_no_difference_how_an_answer_is_cut() {
        let whole = b"HTTP/1.1 102 Processing\r\nA: b\r\n\r\nHTTP/1.1 302 Found\r\nLocation: /\r\n\r\n";
        let first = (0..whole.len()).find(|end| read(&whole[..*end]) != Reading::Unfinished);
        assert_eq!(first.map(|end| read(&whole[..end])), Some(Reading::Status(302)));
    }
}
