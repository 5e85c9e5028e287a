//! The clients of admission that the administrator takes for API servers, by their addresses.

use std::net::IpAddr;
use std::str::FromStr;

/// A block of addresses, as in `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressBlock {
    first: IpAddr,
    /// The number of leading bits that all addresses of the block share.
    bits: u32,
}

impl AddressBlock {
    /// Returns whether an address is in the block.
    pub(super) fn contains(self, address: IpAddr) -> bool {
        self.first.is_ipv4() == address.is_ipv4() && self.shared(address) == self.shared(self.first)
    }

    /// Returns the leading bits of an address, as many as all addresses of the block share.
    fn shared(self, address: IpAddr) -> u128 {
        let (number, width) = match address {
            IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
            IpAddr::V6(address) => (address.to_bits(), 128),
        };
        number.checked_shr(width - self.bits).unwrap_or_default()
    }
}

impl FromStr for AddressBlock {
    type Err = String;

    /// Reads a block such as `10.0.0.0/8`, or a single address as a block of its own.
    fn from_str(text: &str) -> Result<Self, String> {
        let fault = || format!("{text:?} is no block of addresses; write one such as 10.0.0.0/8");
        let (first, bits) = text.split_once('/').unzip();
        let first: IpAddr = first.unwrap_or(text).parse().map_err(|_| fault())?;
        let width = if first.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(width), str::parse).map_err(|_| fault())?;
        if bits > width {
            return Err(fault());
        }
        Ok(Self { first, bits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_the_addresses_that_begin_alike() {
        let is_in = |block: &str, address: &str| {
            let block: AddressBlock = block.parse().unwrap();
            block.contains(address.parse().unwrap())
        };
        assert!(is_in("10.1.0.0/16", "10.1.255.3") && !is_in("10.1.0.0/16", "10.2.0.1"));
        assert!(is_in("10.1.2.3", "10.1.2.3") && !is_in("10.1.2.3", "10.1.2.4"));
        assert!(is_in("0.0.0.0/0", "192.0.2.1") && !is_in("0.0.0.0/0", "fd00::1"));
        assert!(is_in("::/0", "fd00::1") && is_in("fd00::/8", "fdff::1"));
        assert!(!is_in("fd00::/8", "fe80::1"));
        for text in ["", "x/8", "10.0.0.0/33", "10.0.0.0/x", "fd00::/129"] {
            assert!(text.parse::<AddressBlock>().is_err(), "{text}");
        }
    }
}
