//! The claims of a token. No signature is checked here, so the claims may turn a token away and never admit one.

use super::unidentified::Unidentified;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::{SignedDuration, Timestamp};
use rules::keys::AUDIENCE;
use serde_json::Value;

/// The longest token that is read, in bytes. Kubernetes issues no longer tokens.
const LONGEST: usize = 16 * 1024;
/// The longest name that a claim may have, in bytes. Kubernetes gives pods, namespaces and UIDs no longer ones. The claims of forged
/// tokens are kept for a while, so a long name would cost memory.
const LONGEST_NAME: usize = 253;
/// The longest name of an issuer (claim `iss`), in bytes. It is a URL, and OpenID Connect has no bound for it.
const LONGEST_ISSUER: usize = 2048;
/// The most by which the clocks of the issuer and of this replica may differ; the API server allows as much.
const LEEWAY: SignedDuration = SignedDuration::from_mins(1);

/// The claims of a gate's token that sluice reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenClaims {
    /// The claim `iss` of the token.
    pub(super) issuer: String,
    /// The namespace of the pod that the token is bound to.
    pub(super) namespace: String,
    /// The name of the pod that the token is bound to.
    pub(super) pod: String,
    /// The UID of the pod that the token is bound to.
    pub(super) uid: String,
    /// The claim `exp` of the token.
    pub(super) expires: Timestamp,
}

impl TokenClaims {
    /// Reads the claims of a token that may belong to a gate.
    ///
    /// # Errors
    ///
    /// The token has no claims, is for another audience, is out of date at `now`, or does not name its issuer and a pod that it is bound to.
    pub(super) fn read(token: &str, now: Timestamp) -> Result<Self, Unidentified> {
        let payload = payload(token).ok_or(Unidentified::NotAToken)?;
        let moment = |claim: &str| {
            let seconds = payload[claim].as_i64()?;
            Timestamp::from_second(seconds).ok()
        };
        let audiences = match &payload["aud"] {
            Value::Array(several) => several.as_slice(),
            one => std::slice::from_ref(one),
        };
        if !audiences.iter().any(|audience| audience == AUDIENCE) {
            return Err(Unidentified::NotAccepted);
        }
        let expires = moment("exp").ok_or(Unidentified::NotAToken)?;
        let begins = moment("nbf").unwrap_or(Timestamp::MIN);
        if now.duration_since(expires) > LEEWAY || begins.duration_since(now) > LEEWAY {
            return Err(Unidentified::OutOfDate);
        }
        let bound = &payload["kubernetes.io"];
        let text = |value: &Value, longest: usize| {
            let text = value.as_str();
            let text = text.filter(|it| (1..=longest).contains(&it.len()));
            text.map(str::to_owned)
        };
        let name = |value: &Value| text(value, LONGEST_NAME);
        let pod = || {
            Some(Self {
                issuer: text(&payload["iss"], LONGEST_ISSUER)?,
                namespace: name(&bound["namespace"])?,
                pod: name(&bound["pod"]["name"])?,
                uid: name(&bound["pod"]["uid"])?,
                expires,
            })
        };
        pod().ok_or(Unidentified::NotAPod)
    }
}

/// The issuer of a token of any audience; `None` if the text is no JWT or names none.
pub(crate) fn issuer(token: &str) -> Option<String> {
    Some(payload(token.trim())?["iss"].as_str()?.to_owned())
}

/// Returns the claims of a JWT; `None` if the text is too long, or not three parts of which the first two are JSON objects. The signature is not
/// checked.
fn payload(token: &str) -> Option<Value> {
    if token.len() > LONGEST {
        return None;
    }
    let mut parts = token.split('.');
    let (header, payload) = (parts.next()?, parts.next()?);
    parts.next().filter(|signature| !signature.is_empty())?;
    let object = |part: &str| {
        let json = URL_SAFE_NO_PAD.decode(part).ok()?;
        let value: Value = serde_json::from_slice(&json).ok()?;
        value.is_object().then_some(value)
    };
    object(header).filter(|_| parts.next().is_none())?;
    object(payload)
}

/// A token with this payload. The signature is invented.
#[cfg(test)]
pub(super) fn forged(payload: &Value, signature: &str) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let header = serde_json::json!({"alg": "RS256", "kid": "k"});
    format!("{}.{}.{signature}", part(&header), part(payload))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn payload_of_a_gate() -> Value {
        json!({
            "aud": ["sluice"], "exp": 1_600, "nbf": 1_000, "iss": "https://kubernetes.default.svc",
            "kubernetes.io": {"namespace": "shop", "pod": {"name": "api-1", "uid": "u1"}},
        })
    }

    fn read(payload: &Value, second: i64) -> Result<TokenClaims, Unidentified> {
        TokenClaims::read(
            &forged(payload, "s"),
            Timestamp::from_second(second).unwrap(),
        )
    }

    #[test]
    fn a_token_of_a_gate_is_read() {
        let mut payload = payload_of_a_gate();
        let claims = TokenClaims {
            issuer: "https://kubernetes.default.svc".to_owned(),
            namespace: "shop".to_owned(),
            pod: "api-1".to_owned(),
            uid: "u1".to_owned(),
            expires: Timestamp::from_second(1_600).unwrap(),
        };
        assert_eq!(read(&payload, 1_100), Ok(claims.clone()));
        payload["aud"] = json!("sluice");
        assert_eq!(read(&payload, 1_100), Ok(claims));
        assert!(read(&payload, 950).is_ok() && read(&payload, 1_650).is_ok());
    }

    #[test]
    fn what_cannot_be_a_gates_token_is_turned_away_by_what_it_says() {
        use Unidentified::{NotAPod, NotAToken, NotAccepted, OutOfDate};
        for (pointer, value, expected) in [
            (
                "/aud",
                json!(["https://kubernetes.default.svc"]),
                NotAccepted,
            ),
            ("/aud", json!([]), NotAccepted),
            ("/aud", Value::Null, NotAccepted),
            ("/exp", json!(1_039), OutOfDate),
            ("/exp", Value::Null, NotAToken),
            ("/nbf", json!(1_161), OutOfDate),
            ("/iss", Value::Null, NotAPod),
            ("/kubernetes.io", Value::Null, NotAPod),
            ("/kubernetes.io/namespace", json!(""), NotAPod),
            ("/kubernetes.io/pod", Value::Null, NotAPod),
            ("/kubernetes.io/pod/name", json!(7), NotAPod),
            ("/kubernetes.io/pod/uid", Value::Null, NotAPod),
            ("/kubernetes.io/pod/uid", json!("u".repeat(254)), NotAPod),
            ("/kubernetes.io/pod/name", json!("p".repeat(254)), NotAPod),
            ("/kubernetes.io/namespace", json!("n".repeat(254)), NotAPod),
            ("/iss", json!("i".repeat(2049)), NotAPod),
        ] {
            let mut payload = payload_of_a_gate();
            *payload.pointer_mut(pointer).unwrap() = value.clone();
            assert_eq!(read(&payload, 1_100), Err(expected), "{pointer} {value}");
        }
        let good = forged(&payload_of_a_gate(), "s");
        let unsigned = forged(&payload_of_a_gate(), "");
        let (long, more) = ("x".repeat(LONGEST + 1), format!("{good}.more"));
        let no_json = good.replacen('.', ".x", 1);
        for token in [
            "", "t", "a.b.c", "e30.e30", &unsigned, &long, &more, &no_json,
        ] {
            let read = TokenClaims::read(token, Timestamp::from_second(1_100).unwrap());
            assert_eq!(read, Err(NotAToken), "{token:.60}");
        }
    }

    #[test]
    fn the_issuer_of_our_own_token_is_read() {
        let own = forged(&json!({"iss": "https://issuer", "aud": ["api"]}), "s");
        assert_eq!(
            issuer(&format!("{own}\n")).as_deref(),
            Some("https://issuer")
        );
        assert_eq!(issuer("t"), None);
    }
}
