//! Where probes may go: to pods, and never to what a tenant could reach only through whoever asks.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Which addresses probes may go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Permits {
    /// In a cluster: any that a pod can have, but for these.
    Cluster {
        /// The addresses of nodes and of the API server.
        denied: BTreeSet<IpAddr>,
    },
    /// On this machine: loopback addresses alone.
    Loopback,
}

impl Permits {
    /// Whether probes may go to this address.
    ///
    /// ```
    /// use jobflow_k8s::probe::Permits;
    ///
    /// let cluster = Permits::Cluster { denied: ["10.0.0.1".parse().unwrap()].into() };
    /// assert!(cluster.allows("10.0.0.2".parse().unwrap()));
    /// assert!(!cluster.allows("::ffff:10.0.0.1".parse().unwrap()));
    /// assert!(!cluster.allows("169.254.169.254".parse().unwrap()));
    /// ```
    #[must_use]
    pub fn allows(&self, address: IpAddr) -> bool {
        let address = plain(address);
        match self {
            Self::Cluster { denied } => {
                !is_special(address) && !denied.iter().any(|denied| plain(*denied) == address)
            }
            Self::Loopback => address.is_loopback(),
        }
    }
}

/// The address behind one that only wraps an IPv4 address.
fn plain(address: IpAddr) -> IpAddr {
    let IpAddr::V6(six) = address.to_canonical() else {
        return address.to_canonical();
    };
    wrapped(six).map_or(IpAddr::V6(six), IpAddr::V4)
}

/// IPv4 in IPv6: 64:ff9b::/96 (translation), 2002::/16 (6to4), and the old ::a.b.c.d.
fn wrapped(six: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = six.segments();
    let four = |high: u16, low: u16| Some(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
    match [a, b, c, d, e, f] {
        [0x64, 0xff9b, 0, 0, 0, 0] => four(g, h),
        [0x2002, high, low, ..] => four(high, low),
        [0, 0, 0, 0, 0, 0] if g != 0 => four(g, h),
        _ => None,
    }
}

/// Addresses that no pod has for itself.
fn is_special(address: IpAddr) -> bool {
    let of_machine = address.is_loopback() || address.is_unspecified() || address.is_multicast();
    let of_link = match address {
        IpAddr::V4(four) => four.is_link_local() || four.is_broadcast() || four.octets()[0] == 0,
        IpAddr::V6(six) => six.is_unicast_link_local(),
    };
    of_machine || of_link
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn in_a_cluster_probes_go_to_pods_alone() {
        let denied = ["10.1.0.1", "fd00::1"].map(address).into();
        let cluster = Permits::Cluster { denied };
        for pod in ["10.1.0.2", "192.168.3.4", "100.64.0.9", "fd00::2", "2001:db8::5"] {
            assert!(cluster.allows(address(pod)), "{pod}");
        }
        for other in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "0.1.2.3",
            "169.254.169.254",
            "224.0.0.1",
            "255.255.255.255",
            "10.1.0.1",
            "::",
            "::1",
            "fe80::1",
            "ff02::1",
            "fd00::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:10.1.0.1",
            "::169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "2002:a9fe:a9fe::1",
        ] {
            assert!(!cluster.allows(address(other)), "{other}");
        }
    }

    #[test]
    fn on_a_machine_probes_stay_on_it() {
        for (there, allowed) in [
            ("127.1.0.1", true),
            ("::1", true),
            ("::ffff:127.1.0.1", true),
            ("10.1.0.2", false),
            ("0.0.0.0", false),
        ] {
            assert_eq!(Permits::Loopback.allows(address(there)), allowed, "{there}");
        }
    }
}
