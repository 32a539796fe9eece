//! Durations as Volcano writes them: `10m`, `1h30m`, `1.5h`, `500ms`.

use jobflow_core::Span;

const MILLISECOND: f64 = 1_000_000.0;
/// A hundred years in milliseconds: the longest that is read.
const MOST: f64 = 3_153_600_000_000.0;

/// Reads a duration; none if it is no duration, negative, or longer than a hundred years.
pub(super) fn parse(text: &str) -> Option<Span> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Some(Span::ZERO);
    }
    let mut milliseconds = 0.0;
    loop {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(end);
        let unit_end = after
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(after.len());
        let (unit, next) = after.split_at(unit_end);
        milliseconds += number.parse::<f64>().ok()? * nanoseconds(unit)? / MILLISECOND;
        if next.is_empty() {
            break;
        }
        rest = next;
    }
    (milliseconds.is_finite() && milliseconds <= MOST).then_some(Span(milliseconds.round() as u64))
}

fn nanoseconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3600e9,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_go() {
        for (text, milliseconds) in [
            ("10m", Some(600_000)),
            ("1h30m", Some(5_400_000)),
            ("1.5h", Some(5_400_000)),
            ("500ms", Some(500)),
            ("0", Some(0)),
            ("0s", Some(0)),
            ("1h0.5s", Some(3_600_500)),
            ("", None),
            ("10", None),
            ("-5s", None),
            ("5 m", None),
            ("5d", None),
            (".s", None),
            ("9999999999h", None),
            ("1..5s", None),
        ] {
            assert_eq!(parse(text), milliseconds.map(Span), "{text}");
        }
    }
}
