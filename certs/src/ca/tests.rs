use super::*;

const YEAR: SignedDuration = SignedDuration::from_hours(24 * 365);

fn now() -> Timestamp {
    "2026-11-20T10:00:00.5Z".parse().unwrap()
}

#[test]
fn survives_being_stored() {
    let made = Ca::generate(now(), YEAR).unwrap();
    let read = Ca::restore(made.parts()).unwrap();
    assert_eq!(read.certificate(), made.certificate());
    assert_eq!(read.parts(), made.parts());
    assert_eq!(read.not_before().to_string(), "2026-11-19T10:00:00Z");
    assert_eq!(read.not_after().to_string(), "2027-11-20T10:00:00Z");
}

#[test]
fn two_are_never_the_same() {
    let [a, b] = [(); 2].map(|()| Ca::generate(now(), YEAR).unwrap());
    assert_ne!(a.certificate(), b.certificate());
}

#[test]
fn remembers_those_before_it() {
    let [a, b, c] = [(); 3].map(|()| Ca::generate(now(), YEAR).unwrap());
    let c = c.after(&b.after(&a).unwrap()).unwrap();
    let read = Ca::restore(c.parts()).unwrap();
    assert_eq!(read.parts(), c.parts());
    assert_eq!(read.certificate(), c.certificate());
    assert_eq!([&a, &b].map(|old| read.follows(old)), [true, true]);
    let back = b.after(&read).unwrap();
    assert_eq!((back.formers(), back.follows(&b)), (2, false));
}

#[test]
fn keys_that_cannot_be_read_cost_nobody_the_ca() {
    let [a, b] = [(); 2].map(|()| Ca::generate(now(), YEAR).unwrap());
    let good = b.after(&a).unwrap().parts();
    for (formers, count) in [
        ("x".repeat(crate::MAX_PEM + 1), 0),
        ("rubbish".to_owned(), 0),
        (b.pem().to_owned(), 0),
        (format!("{}{}", b.pem(), good.formers), 1),
    ] {
        let parts = CaParts {
            formers,
            ..good.clone()
        };
        assert_eq!(Ca::restore(parts).unwrap().formers(), count);
    }
}

#[test]
fn refuses_the_key_of_another() {
    let [a, b] = [(); 2].map(|()| Ca::generate(now(), YEAR).unwrap());
    let error = Ca::restore(CaParts {
        key: b.parts().key,
        ..a.parts()
    })
    .unwrap_err();
    assert!(matches!(error, CaError::Mismatch(_)), "{error}");
}

#[test]
fn refuses_broken_texts() {
    let good = Ca::generate(now(), YEAR).unwrap().parts();
    let with = |certificate: &str, key: &str| {
        let parts = CaParts {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
            formers: String::new(),
        };
        Ca::restore(parts).unwrap_err()
    };
    assert!(matches!(
        with("", &good.key),
        CaError::Pem {
            what: "certificate",
            ..
        }
    ));
    assert!(matches!(with(&good.certificate, ""), CaError::Key(_)));
    assert!(matches!(
        with(&good.certificate.repeat(2), &good.key),
        CaError::Several(2)
    ));
    assert!(matches!(
        with(&good.certificate, &"x".repeat(crate::MAX_PEM + 1)),
        CaError::Pem { what: "key", .. }
    ));
    // One flipped letter of the public key: the PEM is valid, and the key does not belong to it.
    let middle = good.certificate.len() / 2;
    let middle = if &good.certificate[middle..=middle] == "\n" {
        middle + 1
    } else {
        middle
    };
    let letter = if &good.certificate[middle..=middle] == "A" {
        "B"
    } else {
        "A"
    };
    let mut flipped = good.certificate.clone();
    flipped.replace_range(middle..=middle, letter);
    assert!(
        matches!(with(&flipped, &good.key), CaError::Mismatch(_)),
        "{}",
        with(&flipped, &good.key)
    );
}

#[test]
fn refuses_a_lifetime_that_runs_backwards() {
    let error = Ca::generate(now(), SignedDuration::ZERO).unwrap_err();
    assert!(matches!(error, CaError::Lifetime { .. }), "{error}");
}

#[test]
fn lives_as_long_as_its_certificate_says() {
    let long_ago = now() - YEAR * 2;
    let over = Ca::restore(Ca::generate(long_ago, YEAR).unwrap().parts()).unwrap();
    assert!(over.not_after() < now(), "{over:?}");
}

#[test]
fn never_prints_its_key() {
    let ca = Ca::generate(now(), YEAR).unwrap();
    let printed = format!("{ca:?} {:?}", ca.parts());
    assert!(!printed.contains("PRIVATE"), "{printed}");
}
