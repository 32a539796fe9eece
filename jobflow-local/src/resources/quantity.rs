//! Quantities as Kubernetes writes them: `500m`, `1.5`, `64Mi`, `2e3`. Kept in thousandths, rounded up; what is too
//! large to count is the largest there is.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

const LONGEST: usize = 64;

/// An amount, in thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Quantity(i64);

/// Text that is no quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no quantity such as 500m, 1.5 or 64Mi")]
pub struct BadQuantity(String);

impl Quantity {
    /// Takes a whole number.
    pub fn whole(number: u64) -> Self {
        Self(i64::try_from(number).unwrap_or(i64::MAX).saturating_mul(1000))
    }

    /// Returns the amount in thousandths.
    pub fn thousandths(self) -> i64 {
        self.0
    }

    /// Adds; never past the largest amount.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Takes away; never below nothing.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0).max(0))
    }

    /// Multiplies; never past the largest amount.
    #[must_use]
    pub fn times(self, count: u32) -> Self {
        Self(self.0.saturating_mul(i64::from(count)))
    }

    /// Counts in units of another amount, rounded up, as `resourceFieldRef` shows it; a unit of 0 is 1.
    pub fn in_units_of(self, unit: Self) -> i64 {
        let unit = if unit.0 == 0 { 1000 } else { unit.0 };
        let (whole, rest) = (self.0 / unit, self.0 % unit);
        whole.saturating_add(i64::from(rest > 0))
    }

    /// Reads a quantity; it must not be negative.
    ///
    /// # Errors
    ///
    /// When the text isn't one.
    pub fn parse(text: &str) -> Result<Self, BadQuantity> {
        let bad = || BadQuantity(text.chars().take(LONGEST).collect());
        if text.len() > LONGEST {
            return Err(bad());
        }
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let (number, suffix) = text.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return Err(bad());
        }
        let (base, power) = scale(suffix).ok_or_else(bad)?;
        let digits = format!("{whole}{fraction}");
        let digits: i128 = digits
            .trim_start_matches('0')
            .parse()
            .or_else(|_| zero(&digits))
            .map_err(|()| bad())?;
        Ok(Self(thousandths(digits, fraction.len(), base, power)))
    }

    /// Reads a quantity from data: text or a number.
    ///
    /// # Errors
    ///
    /// When the value isn't one.
    pub fn read(value: &Value) -> Result<Self, BadQuantity> {
        match value {
            Value::String(text) => Self::parse(text),
            Value::Number(number) => Self::parse(&number.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                Err(BadQuantity(value.to_string().chars().take(LONGEST).collect()))
            }
        }
    }
}

/// All digits are zeros, or there are more than can be counted (which is then the largest amount).
fn zero(digits: &str) -> Result<i128, ()> {
    Ok(if digits.bytes().all(|digit| digit == b'0') {
        0
    } else {
        i128::MAX
    })
}

/// The base and power that a suffix stands for.
fn scale(suffix: &str) -> Option<(i128, i32)> {
    let scale = match suffix {
        "n" => (10, -9),
        "u" => (10, -6),
        "m" => (10, -3),
        "" => (10, 0),
        "k" => (10, 3),
        "M" => (10, 6),
        "G" => (10, 9),
        "T" => (10, 12),
        "P" => (10, 15),
        "E" => (10, 18),
        "Ki" => (1024, 1),
        "Mi" => (1024, 2),
        "Gi" => (1024, 3),
        "Ti" => (1024, 4),
        "Pi" => (1024, 5),
        "Ei" => (1024, 6),
        exponent => (10, exponent.strip_prefix(['e', 'E'])?.parse::<i8>().ok()?.into()),
    };
    Some(scale)
}

fn thousandths(digits: i128, fraction: usize, base: i128, power: i32) -> i64 {
    let fraction = i32::try_from(fraction).unwrap_or(i32::MAX);
    // Powers of ten are joined, so that nothing is cut off before the end.
    let (factor, ten) = if base == 10 {
        (1, power)
    } else {
        (saturating_power(base, power), 0)
    };
    let ten = ten + 3 - fraction;
    let scaled = digits.saturating_mul(factor);
    let result = match ten {
        0.. => scaled.saturating_mul(saturating_power(10, ten)),
        _ => {
            let divisor = saturating_power(10, -ten);
            scaled / divisor + i128::from(scaled % divisor > 0)
        }
    };
    i64::try_from(result).unwrap_or(i64::MAX)
}

fn saturating_power(base: i128, power: i32) -> i128 {
    base.saturating_pow(u32::try_from(power).unwrap_or(0))
}

impl TryFrom<String> for Quantity {
    type Error = BadQuantity;

    fn try_from(text: String) -> Result<Self, BadQuantity> {
        Self::parse(&text)
    }
}

impl From<Quantity> for String {
    fn from(quantity: Quantity) -> Self {
        quantity.to_string()
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(i64, &str); 3] = [(1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")];
        let Self(thousandths) = self;
        if thousandths % 1000 != 0 {
            return write!(formatter, "{thousandths}m");
        }
        let whole = thousandths / 1000;
        let unit = UNITS.iter().find(|(unit, _)| whole >= *unit && whole % unit == 0);
        match unit {
            Some((unit, suffix)) => write!(formatter, "{}{suffix}", whole / unit),
            None => write!(formatter, "{whole}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kubernetes_writes_is_read() {
        let cases = [
            ("0", 0),
            ("1", 1000),
            ("500m", 500),
            ("1.5", 1500),
            (".5", 500),
            ("1.", 1000),
            ("0.0001", 1),
            ("1n", 1),
            ("64Ki", 65_536_000),
            ("1.5Gi", 1_610_612_736_000),
            ("2e3", 2_000_000),
            ("1E-3", 1),
            (
                "2E",
                2_000_000_000_000_000_000_000u128.try_into().unwrap_or(i64::MAX),
            ),
            ("99999999999999999999999999999999999999999999", i64::MAX),
            ("0.00000000000000000000", 0),
        ];
        for (text, expected) in cases {
            assert_eq!(Quantity::parse(text), Ok(Quantity(expected)), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            ".",
            "-1",
            "1 ",
            "1x",
            "1.2.3",
            "Mi",
            "1e",
            "1e999",
            "NaN",
            "inf",
            "١",
            &"1".repeat(65),
        ] {
            assert!(Quantity::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn people_see_round_units() {
        for text in ["3", "500m", "64Mi", "2Gi", "1000", "9223372036854775807m"] {
            assert_eq!(Quantity::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_part_of_a_unit_counts_as_one() {
        let amount = |text| Quantity::parse(text).unwrap();
        assert_eq!(amount("1500m").in_units_of(amount("1")), 2);
        assert_eq!(amount("1500m").in_units_of(amount("1m")), 1500);
        assert_eq!(amount("64Mi").in_units_of(amount("1Mi")), 64);
        assert_eq!(amount("7").in_units_of(amount("0")), 7);
    }
}
