//! A certificate of another issuer, where the test acts as cert-manager.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use super::*;

const NAME: &str = "sluice.sluice-system.svc";

/// A CA of another issuer, with another subject than ours and no limit on the length of its path.
struct Signer {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Signer {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self {
            pem: params.self_signed(&key).unwrap().pem(),
            issuer: Issuer::new(params, key),
        }
    }

    /// Signs a new certificate for our Service, and writes it with its key and the CA into the Secret, as cert-manager does.
    fn sign(&self, fake: &Fake) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([NAME.to_owned()]).unwrap();
        let leaf = params.signed_by(&key, &self.issuer).unwrap();
        let data = [
            ("tls.crt", leaf.pem()),
            ("tls.key", key.serialize_pem()),
            ("ca.crt", self.pem.clone()),
        ];
        let data: serde_json::Map<_, _> = data
            .map(|(key, text)| (key.to_owned(), json!(fake::encode(&text))))
            .into_iter()
            .collect();
        fake.objects().secret = Some(json!({"metadata": {"name": "sluice-tls"}, "data": data}));
    }
}

fn issued(fake: &Fake) -> Replica {
    let own = replica(fake).authority.config;
    let config = Config {
        issued: Some("sluice-tls".to_owned()),
        ..own
    };
    replica_of(&fake.client(), config)
}

#[tokio::test]
async fn what_somebody_else_signs_is_served_and_its_ca_published() {
    let fake = Fake::with_configuration();
    let mut replica = issued(&fake);
    let error = replica.round(day(0)).await.unwrap_err().to_string();
    assert!(
        error.starts_with(r#"the Secret "sluice-tls" has no "tls.crt" yet; "#),
        "{error}"
    );
    assert_eq!(replica.missing(), ["caBundle", "certificate"]);

    let first = Signer::new();
    first.sign(&fake);
    replica.round(day(0)).await.unwrap();
    assert_eq!(replica.missing(), Vec::<String>::new());
    let text = |signer: &Signer| format!("{}\n", signer.pem.trim());
    let gate = replica.bundle();
    assert_eq!(gate, text(&first));
    assert!(replica.is_accepted(&gate, day(0)));

    let served = replica.authority.leaf.clone().unwrap();
    first.sign(&fake);
    replica.round(day(0)).await.unwrap();
    assert!(
        !replica.authority.leaf.as_ref().unwrap().is(&served),
        "without a restart"
    );
    assert_eq!(fake.objects().writes, ["patch"], "no Secret is written");

    let second = Signer::new();
    second.sign(&fake);
    fake.objects().forbidden = true;
    replica.round(day(0)).await.unwrap_err();
    assert!(
        replica.is_accepted(&gate, day(0)),
        "nobody trusts the second one yet"
    );
    fake.objects().forbidden = false;
    replica.round(day(0)).await.unwrap();
    let both = format!("{}{}", text(&second), text(&first));
    assert_eq!(fake.objects().bundles(), [both.clone(), both.clone()]);
    assert!(replica.is_accepted(&text(&second), day(0)));

    let mut fresh = issued(&fake);
    fresh.round(day(0)).await.unwrap();
    assert_eq!(fresh.bundle(), both, "every replica carries the same on");
    assert_eq!(fake.objects().writes, ["patch"; 2]);
    assert!(fake.objects().events.is_empty());
}

#[tokio::test]
async fn what_cannot_be_used_changes_nothing() {
    let fake = Fake::with_configuration();
    let mut replica = issued(&fake);
    Signer::new().sign(&fake);
    replica.round(day(0)).await.unwrap();
    let bundle = replica.bundle();
    let other = Signer::new();
    for (key, text) in [
        ("ca.crt", other.pem.as_str()),
        ("tls.crt", other.pem.as_str()),
        ("tls.key", "rubbish"),
        ("ca.crt", ""),
    ] {
        let right = fake.objects().secret.clone();
        fake.objects().secret.as_mut().unwrap()["data"][key] = json!(fake::encode(text));
        replica.round(day(0)).await.unwrap_err();
        assert_eq!(
            fake.objects().bundles(),
            [bundle.clone(), bundle.clone()],
            "{key}"
        );
        assert!(replica.is_accepted(&bundle, day(0)), "{key}");
        assert_eq!(replica.missing(), Vec::<String>::new(), "{key}");
        fake.objects().secret = right;
    }
}

/// A roll-out that sets or removes the issuer has replicas with our own CA beside replicas with the other issuer's.
#[tokio::test]
async fn replicas_of_both_kinds_do_not_undo_what_the_others_write() {
    let fake = Fake::with_configuration();
    let mut own = replica(&fake);
    own.round(day(0)).await.unwrap();
    let secret = fake.objects().secret.take();
    Signer::new().sign(&fake);
    let mut other = issued(&fake);
    other.round(day(0)).await.unwrap();
    let both = fake.objects().bundles();
    assert!(both[0].ends_with(&own.bundle()), "{}", both[0]);
    let signed = fake.objects().secret.take();

    fake.objects().writes.clear();
    for _ in 0..2 {
        fake.objects().secret.clone_from(&secret);
        own.round(day(0)).await.unwrap();
        fake.objects().secret.clone_from(&signed);
        other.round(day(0)).await.unwrap();
    }
    assert_eq!(fake.objects().writes, [""; 0]);
    assert_eq!(fake.objects().bundles(), both);
    assert!(fake.objects().events.is_empty());
    assert!(own.missing().is_empty() && other.missing().is_empty());

    // After the roll-out, the next replica that starts removes the CA that no replica serves.
    fake.objects().secret = secret;
    replica(&fake).round(day(0)).await.unwrap();
    assert_eq!(fake.objects().bundles(), [own.bundle(), own.bundle()]);
}
