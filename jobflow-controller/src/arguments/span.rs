//! Durations as people write them.

use std::time::Duration;

/// The longest duration that means anything here.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Reads a number with a unit.
pub(super) fn read(text: &str) -> Option<Duration> {
    let unit = text.trim_start_matches(|character: char| character.is_ascii_digit());
    let number = text.get(..text.len() - unit.len())?;
    let factor = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let milliseconds = number.parse::<u64>().ok()?.checked_mul(factor)?;
    Some(Duration::from_millis(milliseconds)).filter(|duration| *duration <= LONGEST)
}

/// Writes a duration as it is read.
pub(crate) fn write(duration: Duration) -> String {
    match duration.as_millis() {
        milliseconds if milliseconds % 1000 == 0 => format!("{}s", milliseconds / 1000),
        milliseconds => format!("{milliseconds}ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_number_with_a_unit_and_nothing_else() {
        assert_eq!(read("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(read("2m"), Some(Duration::from_secs(120)));
        assert_eq!(read("24h"), Some(LONGEST));
        for bad in [
            "",
            "5",
            "s",
            "-1s",
            "1 s",
            "1.5s",
            "25h",
            "9999999999h",
            "99999999999999999999s",
            "１s",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
        for written in ["15s", "250ms", "0s"] {
            assert_eq!(write(read(written).unwrap()), written);
        }
    }
}
