//! Writes and reads messages of the DNS, as far as they ask for the addresses of a name (RFC 1035 section 4, RFC 3596). Pure, and made for
//! hostile bytes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The family of the addresses in a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    V4,
    V6,
}

/// The content of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    /// The addresses of a name that exists; empty where the name has none.
    Addresses(Vec<IpAddr>),
    /// The name does not exist.
    NoName,
    /// The server refuses to answer, or cannot.
    Failed,
    /// The response was too long for a datagram.
    Truncated,
}

const HEADER: usize = 12;
const IN: u16 = 1;
/// The bits that mark a pointer: a name in a response may point to an earlier place of the message.
const POINTER: u8 = 0xc0;

impl Family {
    /// The number of the record type for this family in a DNS message: A or AAAA.
    fn code(self) -> u16 {
        match self {
            Self::V4 => 1,
            Self::V6 => 28,
        }
    }
}

/// Writes the message that asks for the addresses of `name`, which has no dot at its end; `None` for a text that the DNS cannot have as a name.
pub(super) fn query(id: u16, name: &str, family: Family) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(HEADER + name.len() + 6);
    bytes.extend(id.to_be_bytes());
    // The flags ask for recursion, and the counts tell of one question.
    bytes.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in name.split('.') {
        let length = u8::try_from(label.len()).ok();
        bytes.push(length.filter(|length| (1..64).contains(length))?);
        bytes.extend(label.as_bytes());
    }
    bytes.push(0);
    bytes.extend(family.code().to_be_bytes());
    bytes.extend(IN.to_be_bytes());
    (name.len() <= 253).then_some(bytes)
}

/// Reads the content of a response to the message `query`; `None` for bytes that are no response to it.
pub(super) fn read(bytes: &[u8], query: &[u8], family: Family) -> Option<Said> {
    let question = &query[HEADER..];
    let echoes = bytes.get(..2)? == query.get(..2)?
        && bytes
            .get(HEADER..HEADER + question.len())?
            .eq_ignore_ascii_case(question);
    let [flags, more] = [*bytes.get(2)?, *bytes.get(3)?];
    if !echoes || flags & 0x80 == 0 {
        return None;
    }
    if flags & 2 != 0 {
        return Some(Said::Truncated);
    }
    match more & 0x0f {
        0 => {}
        3 => return Some(Said::NoName),
        _ => return Some(Said::Failed),
    }
    let count = number(bytes, 6)?;
    let mut at = HEADER + question.len();
    let mut found = Vec::new();
    for _ in 0..count {
        // A response that ends within a record holds no usable record behind it.
        let Some((address, next)) = record(bytes, at, family) else {
            break;
        };
        found.extend(address);
        at = next;
    }
    Some(Said::Addresses(found))
}

/// The address in the record that begins at `at`, if it is of this family, and the place at which the next record begins. `None` for a
/// record that is cut off.
fn record(bytes: &[u8], at: usize, family: Family) -> Option<(Option<IpAddr>, usize)> {
    let at = behind_name(bytes, at)?;
    let (kind, length) = (number(bytes, at)?, usize::from(number(bytes, at + 8)?));
    let data = bytes.get(at + 10..at + 10 + length)?;
    let address = match family {
        _ if kind != family.code() => None,
        Family::V4 => <[u8; 4]>::try_from(data)
            .ok()
            .map(|it| Ipv4Addr::from(it).into()),
        Family::V6 => <[u8; 16]>::try_from(data)
            .ok()
            .map(|it| Ipv6Addr::from(it).into()),
    };
    Some((address, at + 10 + length))
}

fn behind_name(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *bytes.get(at)? {
            0 => return Some(at + 1),
            length if length & POINTER == POINTER => return Some(at + 2),
            length => at += 1 + usize::from(length),
        }
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes([bytes[0], bytes[1]]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A response to a question: flags, and records of a type with their data, each named by a pointer.
    fn response(query: &[u8], code: u8, records: &[(u16, &[u8])]) -> Vec<u8> {
        let mut bytes = query.to_vec();
        bytes[2] = 0x81;
        bytes[3] = 0x80 | code;
        bytes[7] = u8::try_from(records.len()).unwrap();
        for (kind, data) in records {
            bytes.extend([POINTER, 12]);
            bytes.extend(kind.to_be_bytes());
            bytes.extend([0, 1, 0, 0, 0, 30]);
            bytes.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
            bytes.extend(*data);
        }
        bytes
    }

    #[test]
    fn addresses_behind_other_names_count() {
        let query = query(7, "db.example.com", Family::V4).unwrap();
        let records: [(u16, &[u8]); 3] =
            [(5, b"\x02db\xc0\x0c"), (1, &[192, 0, 2, 7]), (28, &[0; 16])];
        let found = read(&response(&query, 0, &records), &query, Family::V4);
        let expected = Said::Addresses(vec![[192, 0, 2, 7].into()]);
        assert_eq!(found, Some(expected));
        let six = super::query(7, "db.example.com", Family::V6).unwrap();
        let found = read(&response(&six, 0, &records), &six, Family::V6);
        assert_eq!(
            found,
            Some(Said::Addresses(vec![Ipv6Addr::UNSPECIFIED.into()]))
        );
        let none = read(&response(&query, 0, &[]), &query, Family::V4);
        assert_eq!(none, Some(Said::Addresses(Vec::new())));
    }

    #[test]
    fn what_a_server_says_of_itself_is_no_word_on_the_name() {
        let query = query(7, "db", Family::V4).unwrap();
        for (code, expected) in [(3, Said::NoName), (2, Said::Failed), (5, Said::Failed)] {
            let said = read(&response(&query, code, &[]), &query, Family::V4);
            assert_eq!(said, Some(expected));
        }
        let mut long = response(&query, 0, &[]);
        long[2] |= 2;
        assert_eq!(read(&long, &query, Family::V4), Some(Said::Truncated));
    }

    #[test]
    fn only_a_response_to_the_question_counts() {
        let asked = query(7, "db", Family::V4).unwrap();
        for other in [
            query(8, "db", Family::V4),
            query(7, "eb", Family::V4),
            query(7, "db", Family::V6),
        ] {
            let other = response(&other.unwrap(), 0, &[(1, &[192, 0, 2, 7])]);
            assert_eq!(read(&other, &asked, Family::V4), None);
        }
        assert_eq!(
            read(&asked, &asked, Family::V4),
            None,
            "a question is no response"
        );
    }

    #[test]
    fn no_name_is_asked_that_cannot_be() {
        let long = "a".repeat(64);
        for name in ["", "a..b", long.as_str(), &"a.".repeat(130)] {
            assert_eq!(query(1, name, Family::V4), None, "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let query = query(7, "db.example.com", Family::V6).unwrap();
            let mut whole = query.clone();
            whole[2] |= 0x80;
            whole[7] = 9;
            whole.extend(&bytes);
            let _ = (read(&bytes, &query, Family::V6), read(&whole, &query, Family::V6));
        }
    }
}
