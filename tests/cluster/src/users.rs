//! Who may talk to the API server, each with a token that nobody can guess: other users of the machine reach the port
//! too. Deliberately absent: what they may do (`rights`).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};

/// A user of the control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum User {
    /// May do everything: in the group `system:masters`.
    Admin,
    /// May do what it was granted in namespaces of its own.
    TenantA,
    /// The same, in others.
    TenantB,
    /// May read flows, Jobs and pods everywhere, and change nothing.
    Viewer,
    /// The service account of the controller, `jobflow-controller` in `jobflow-system`; has the rights that a test gives it.
    Controller,
    /// The stand-in for Volcano: in the group `system:masters`, with a name of its own.
    Volcano,
}

impl User {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Admin,
        Self::TenantA,
        Self::TenantB,
        Self::Viewer,
        Self::Controller,
        Self::Volcano,
    ];

    /// The name by which the API server knows the user.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::TenantA => "tenant-a",
            Self::TenantB => "tenant-b",
            Self::Viewer => "viewer",
            Self::Controller => "system:serviceaccount:jobflow-system:jobflow-controller",
            Self::Volcano => "volcano",
        }
    }

    /// The same without characters that file names shouldn't have.
    pub(crate) const fn file_name(self) -> &'static str {
        match self {
            Self::Controller => "controller",
            Self::Admin | Self::TenantA | Self::TenantB | Self::Viewer | Self::Volcano => self.name(),
        }
    }

    const fn groups(self) -> &'static str {
        match self {
            Self::Admin | Self::Volcano => "system:masters",
            Self::Controller => "system:serviceaccounts,system:serviceaccounts:jobflow-system",
            Self::TenantA | Self::TenantB | Self::Viewer => "",
        }
    }
}

/// The token of each user.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Tokens(BTreeMap<User, String>);

impl Tokens {
    /// New ones.
    pub(crate) fn new() -> io::Result<Self> {
        let tokens = User::ALL.into_iter().map(|user| Ok((user, token()?)));
        tokens.collect::<io::Result<_>>().map(Self)
    }

    pub(crate) fn of(&self, user: User) -> &str {
        self.0.get(&user).map_or("", String::as_str)
    }

    /// As `--token-auth-file` reads them: token, name, UID, groups.
    pub(crate) fn file(&self) -> String {
        let lines = self.0.iter().map(|(user, token)| {
            let (name, groups) = (user.name(), user.groups());
            format!("{token},{name},{name},\"{groups}\"\n")
        });
        lines.collect()
    }
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Tokens(…)")
    }
}

fn token() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_user_has_a_token_of_its_own_in_the_file() {
        let tokens = Tokens::new().unwrap();
        let file = tokens.file();
        assert_eq!(file.lines().count(), User::ALL.len());
        for user in User::ALL {
            let line = format!("{},{},", tokens.of(user), user.name());
            assert_eq!(file.lines().filter(|known| known.starts_with(&line)).count(), 1);
        }
    }

    #[test]
    fn tokens_are_not_printed() {
        assert_eq!(format!("{:?}", Tokens::new().unwrap()), "Tokens(…)");
    }
}
