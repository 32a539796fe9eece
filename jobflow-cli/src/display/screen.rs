//! The part of a terminal that is drawn anew: how many lines of it are ours, and when they were drawn.

use std::time::{Duration, Instant};

/// Drawing more often shows nothing more.
const INTERVAL: Duration = Duration::from_millis(100);

/// What was drawn last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Screen {
    lines: usize,
    drawn: Option<Instant>,
}

impl Screen {
    /// Whether it is time to draw again.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.drawn
            .is_none_or(|drawn| now.duration_since(drawn) >= INTERVAL)
    }

    /// What to write so that these lines stand in the place of the last ones.
    pub(crate) fn draw(&mut self, lines: &[String], now: Instant) -> String {
        let mut text = self.clear();
        for line in lines {
            text.push_str(line);
            text.push_str("\x1b[K\n");
        }
        self.lines = lines.len();
        self.drawn = Some(now);
        text
    }

    /// What to write so that the last lines are gone.
    pub(crate) fn clear(&mut self) -> String {
        match std::mem::take(&mut self.lines) {
            0 => String::new(),
            lines => format!("\x1b[{lines}A\r\x1b[J"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_before_are_replaced() {
        let (mut screen, now) = (Screen::default(), Instant::now());
        assert!(screen.is_due(now));
        assert_eq!(
            screen.draw(&["a".to_owned(), "b".to_owned()], now),
            "a\x1b[K\nb\x1b[K\n"
        );
        assert!(!screen.is_due(now) && screen.is_due(now + INTERVAL));
        assert_eq!(screen.draw(&["c".to_owned()], now), "\x1b[2A\r\x1b[Jc\x1b[K\n");
        assert_eq!(screen.clear(), "\x1b[1A\r\x1b[J");
        assert_eq!(screen.clear(), "");
    }
}
