use std::slice;

use rustls::{CertificateError, Error};

use super::*;
use crate::ca::CaParts;

const WEEK: SignedDuration = SignedDuration::from_hours(24 * 7);
const NAME: &str = "sluice.sluice-system.svc";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn ca() -> Ca {
    Ca::generate(
        at("2026-11-20T10:00:00Z"),
        SignedDuration::from_hours(24 * 365),
    )
    .unwrap()
}

fn names() -> Vec<String> {
    vec![NAME.to_owned()]
}

fn verify(leaf: &Leaf, root: &Ca, name: &'static str, now: Timestamp) -> Result<(), Error> {
    let (first, rest) = leaf.key.cert.split_first().unwrap();
    super::verify(slice::from_ref(root.certificate()), first, rest, name, now)
}

#[test]
fn what_somebody_else_has_signed_is_tried() {
    let (ours, now) = (ca(), at("2026-11-20T10:00:00Z"));
    let key = KeyPair::generate().unwrap();
    let mut params = leaf_params(&names()).unwrap();
    set_validity(&mut params, now, now + WEEK);
    let chain = params.signed_by(&key, ours.issuer()).unwrap().pem();
    let read = |key: &str, roots: &str, name: &str, now| Leaf::read(&chain, key, roots, name, now);
    let key = key.serialize_pem();
    let leaf = read(&key, ours.pem(), NAME, now).unwrap();
    assert_eq!(
        (leaf.not_after(), leaf.issuer()),
        (now + WEEK, ours.certificate())
    );
    assert!(leaf.is_valid(now) && !leaf.is_valid(now - WEEK));
    let wrong = |key: &str, roots: &str, name: &str, now| {
        let error = read(key, roots, name, now).unwrap_err();
        matches!(error, LeafError::Refused { .. })
    };
    assert!(wrong(&key, ca().pem(), NAME, now));
    assert!(wrong(&key, ours.pem(), "other.svc", now));
    assert!(wrong(&key, ours.pem(), NAME, now + WEEK * 2));
    assert!(
        !wrong(&ours.parts().key, ours.pem(), NAME, now),
        "the key of another"
    );
    assert!(!wrong("rubbish", ours.pem(), NAME, now));
}

#[test]
fn verifies_for_its_name_and_its_time() {
    let ca = ca();
    let leaf = Leaf::issue(&ca, &names(), at("2026-11-21T10:00:00.9Z"), WEEK).unwrap();
    assert_eq!(verify(&leaf, &ca, NAME, at("2026-11-20T10:00:00Z")), Ok(()));
    assert_eq!(verify(&leaf, &ca, NAME, at("2026-11-28T10:00:00Z")), Ok(()));
    assert!(verify(&leaf, &ca, NAME, at("2026-11-20T09:59:59Z")).is_err());
    assert!(verify(&leaf, &ca, NAME, at("2026-11-28T10:00:01Z")).is_err());
    assert!(
        verify(
            &leaf,
            &ca,
            "other.sluice-system.svc",
            at("2026-11-21T10:00:00Z")
        )
        .is_err()
    );
}

#[test]
fn a_restored_ca_signs_what_the_made_one_vouches_for() {
    let made = ca();
    let leaf = Leaf::issue(
        &Ca::restore(made.parts()).unwrap(),
        &names(),
        at("2026-11-20T10:00:00Z"),
        WEEK,
    )
    .unwrap();
    assert_eq!(
        verify(&leaf, &made, NAME, at("2026-11-20T10:00:00Z")),
        Ok(())
    );
    assert_eq!(leaf.issuer(), made.certificate());
}

#[test]
fn another_ca_of_the_same_subject_does_not_vouch_for_it() {
    let leaf = Leaf::issue(&ca(), &names(), at("2026-11-20T10:00:00Z"), WEEK).unwrap();
    let error = verify(&leaf, &ca(), NAME, at("2026-11-20T10:00:00Z")).unwrap_err();
    assert!(
        matches!(
            error,
            Error::InvalidCertificate(
                CertificateError::BadSignature | CertificateError::UnknownIssuer
            )
        ),
        "{error}"
    );
}

#[test]
fn who_trusts_a_ca_that_came_before_trusts_it() {
    let now = at("2026-11-20T10:00:00Z");
    let cas: Vec<Ca> = (0..19).fold(Vec::new(), |mut cas, _| {
        let next = ca();
        cas.push(match cas.last() {
            Some(last) => next.after(last).unwrap(),
            None => next,
        });
        cas
    });
    let leaf = Leaf::issue(&cas[18], &names(), now, WEEK).unwrap();
    assert!(leaf.is_of(&cas[18]) && !leaf.is_of(&cas[17]));
    let verified: Vec<bool> = cas
        .iter()
        .map(|root| verify(&leaf, root, NAME, now).is_ok())
        .collect();
    let forgotten = [false; 2].into_iter();
    let expected: Vec<bool> = forgotten.chain([true; 17]).collect();
    assert_eq!(verified, expected, "sixteen came before");
}

#[test]
fn a_ca_of_an_older_version_vouches_as_well() {
    let now = at("2026-11-20T10:00:00Z");
    let key = KeyPair::generate().unwrap();
    let mut params = crate::parameters::ca_params(0);
    set_validity(&mut params, begins(now), now + WEEK * 52);
    let certificate = params.self_signed(&key).unwrap();
    let old = Ca::restore(CaParts {
        certificate: certificate.pem(),
        key: key.serialize_pem(),
        formers: String::new(),
    })
    .unwrap();
    let leaf = Leaf::issue(&ca().after(&old).unwrap(), &names(), now, WEEK).unwrap();
    assert_eq!(verify(&leaf, &old, NAME, now), Ok(()));
}

#[test]
fn never_outlives_its_ca() {
    let ca = ca();
    let late = at("2027-11-19T10:00:00Z");
    let leaf = Leaf::issue(&ca, &names(), late, WEEK).unwrap();
    assert_eq!(leaf.not_after(), ca.not_after());
    let error = Leaf::issue(&ca, &names(), ca.not_after(), WEEK).unwrap_err();
    assert_eq!(error, LeafError::CaEnded(ca.not_after()));
}

#[test]
fn is_renewed_at_two_thirds() {
    let leaf = Leaf::issue(
        &ca(),
        &names(),
        at("2026-11-21T00:00:00Z"),
        SignedDuration::from_hours(72),
    )
    .unwrap();
    assert_eq!(leaf.renew_at(), at("2026-11-23T00:00:00Z"));
}

#[test]
fn knows_when_it_is_valid() {
    let leaf = Leaf::issue(&ca(), &names(), at("2026-11-21T10:00:00Z"), WEEK).unwrap();
    assert!(leaf.is_valid(at("2026-11-20T10:00:00Z")));
    assert!(!leaf.is_valid(at("2026-11-20T09:59:59Z")));
    assert!(leaf.is_valid(at("2026-11-28T09:59:59Z")));
    assert!(!leaf.is_valid(at("2026-11-28T10:00:00Z")));
}

#[test]
fn refuses_names_that_are_none() {
    for names in [vec![], vec!["nämé".to_owned()]] {
        let error = Leaf::issue(&ca(), &names, at("2026-11-21T10:00:00Z"), WEEK).unwrap_err();
        assert!(matches!(error, LeafError::Names { .. }), "{error}");
    }
}
