use super::*;
use std::os::unix::ffi::OsStringExt;

fn authority() -> String {
    let mut parameters = rcgen::CertificateParams::new(vec![]).unwrap();
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    parameters
        .self_signed(&rcgen::KeyPair::generate().unwrap())
        .unwrap()
        .pem()
}

/// Reads a good environment with one variable replaced, or removed.
fn read(variable: &str, value: Option<&str>) -> Result<Config, String> {
    let authority = authority();
    let good = |name: &str| match name {
        env::ADDRESSES => "10.96.0.10:9764, sluice.sluice-system.svc:9764",
        env::SERVER_NAME => "sluice.sluice-system.svc",
        env::CA_BUNDLE => &authority,
        env::CA_FILE => "/var/run/secrets/sluice/ca.pem",
        env::TOKEN_FILE => "/var/run/secrets/sluice/token",
        env::STATE_DIR => "/sluice",
        _ => unreachable!("{name} is not a variable of the gate"),
    };
    Config::read(|name| {
        if name == variable {
            value
        } else {
            Some(good(name))
        }
        .map(OsString::from)
    })
    .map_err(|error| error.to_string())
}

#[test]
fn reads_a_good_environment() {
    let config = read("", None).unwrap();
    let expected = concat!(
        "version ",
        env!("CARGO_PKG_VERSION"),
        ", asks 10.96.0.10:9764, sluice.sluice-system.svc:9764 until the dependencies of this pod are ready"
    );
    assert_eq!(greeting(&config), expected);
    assert_eq!(config.server_name.to_str(), "sluice.sluice-system.svc");
    assert_eq!(config.authorities.len(), 1);
    let file = PathBuf::from("/var/run/secrets/sluice/ca.pem");
    assert_eq!(config.authority_file, Some(file));
    let without = read(env::CA_FILE, None).unwrap();
    assert_eq!(without.authority_file, None);
    assert_eq!(
        config.token_file,
        PathBuf::from("/var/run/secrets/sluice/token")
    );
    assert_eq!(config.state_dir, PathBuf::from("/sluice"));
}

#[test]
fn reads_an_overlapping_bundle() {
    let bundle = format!("# old\n{}\n# new\n{}", authority(), authority());
    assert_eq!(
        read(env::CA_BUNDLE, Some(&bundle))
            .unwrap()
            .authorities
            .len(),
        2
    );
}

#[test]
fn reads_ipv6_in_brackets() {
    let config = read(env::ADDRESSES, Some("[fd00::1]:9764")).unwrap();
    assert_eq!(
        config.addresses,
        [Address {
            host: "fd00::1".to_owned(),
            port: 9764
        }]
    );
    assert_eq!(config.addresses[0].to_string(), "[fd00::1]:9764");
}

#[test]
fn names_the_variable_and_why() {
    let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
    let half = "-----BEGIN CERTIFICATE-----\nAAAA";
    for (variable, value, expected) in [
        (env::ADDRESSES, "", "SLUICE_ADDRESSES is empty"),
        (
            env::ADDRESSES,
            "sluice",
            r#"SLUICE_ADDRESSES has "sluice" where host:port is expected"#,
        ),
        (
            env::ADDRESSES,
            "a:1,",
            r#"SLUICE_ADDRESSES has "" where host:port is expected"#,
        ),
        (
            env::ADDRESSES,
            "a:0",
            r#"SLUICE_ADDRESSES has "a:0" where host:port is expected"#,
        ),
        (
            env::ADDRESSES,
            "a:65536",
            r#"SLUICE_ADDRESSES has "a:65536" where host:port is expected"#,
        ),
        (
            env::ADDRESSES,
            ":1",
            r#"SLUICE_ADDRESSES has ":1" where host:port is expected"#,
        ),
        (
            env::ADDRESSES,
            "[]:1",
            r#"SLUICE_ADDRESSES has "[]:1" where host:port is expected"#,
        ),
        (
            env::ADDRESSES,
            "a b:1",
            r#"SLUICE_ADDRESSES has "a b:1" where host:port is expected"#,
        ),
        (
            env::ADDRESSES,
            "fd00::1:9764",
            r#"SLUICE_ADDRESSES has "fd00::1:9764": write an IPv6 address in brackets, [fd00::1]:9764"#,
        ),
        (
            env::SERVER_NAME,
            "a b",
            r#"SLUICE_SERVER_NAME is "a b", which is no DNS name"#,
        ),
        (env::CA_BUNDLE, " \n", "SLUICE_CA_BUNDLE is empty"),
        (
            env::CA_BUNDLE,
            "x",
            "SLUICE_CA_BUNDLE has no PEM certificate (-----BEGIN CERTIFICATE-----)",
        ),
        (
            env::CA_BUNDLE,
            garbage,
            "SLUICE_CA_BUNDLE has a bad certificate, number 1: invalid peer certificate: BadEncoding",
        ),
        (
            env::CA_BUNDLE,
            half,
            "SLUICE_CA_BUNDLE has a bad certificate, number 1: its PEM cannot be read to the end",
        ),
        (
            env::CA_FILE,
            "ca.pem",
            r#"SLUICE_CA_FILE is "ca.pem", which does not begin with /"#,
        ),
        (
            env::TOKEN_FILE,
            "token",
            r#"SLUICE_TOKEN_FILE is "token", which does not begin with /"#,
        ),
        (
            env::STATE_DIR,
            "./state",
            r#"SLUICE_STATE_DIR is "./state", which does not begin with /"#,
        ),
    ] {
        assert_eq!(read(variable, Some(value)).unwrap_err(), expected);
    }
}

#[test]
fn misses_every_variable() {
    for variable in [
        env::ADDRESSES,
        env::SERVER_NAME,
        env::CA_BUNDLE,
        env::TOKEN_FILE,
        env::STATE_DIR,
    ] {
        let expected = format!(
            "{variable} is not set; the sluice webhook writes it, so let the webhook add this container"
        );
        assert_eq!(read(variable, None).unwrap_err(), expected);
        assert!(HELP.contains(variable));
    }
    assert!(HELP.contains(TERMINATION_LOG_VARIABLE) && HELP.contains(TERMINATION_LOG));
    assert!(HELP.contains(env::CA_FILE));
}

#[test]
fn is_text() {
    let error = Config::read(|_| Some(OsString::from_vec(vec![0xff]))).unwrap_err();
    assert_eq!(error.to_string(), "SLUICE_ADDRESSES is not UTF-8");
}

#[test]
fn finds_the_termination_log() {
    assert_eq!(
        termination_log(|_| None),
        PathBuf::from("/dev/termination-log")
    );
    assert_eq!(
        termination_log(|name| Some(name.into())),
        PathBuf::from("SLUICE_TERMINATION_LOG")
    );
}
