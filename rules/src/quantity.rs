//! Kubernetes' quantities: `500m`, `1.5Gi`, `2e3`.

use serde_json::Value;

/// The suffixes of a quantity's number, each with its factor.
const SUFFIXES: [(&str, f64); 15] = [
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
    ("Ei", 1_152_921_504_606_846_976.0),
    ("n", 1e-9),
    ("u", 1e-6),
    ("m", 1e-3),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
    ("E", 1e18),
];

/// The number of a quantity; `None` for a text that is no quantity, which the API server refuses.
pub fn read(quantity: &Value) -> Option<f64> {
    match quantity {
        Value::String(text) => parse(text.trim()),
        Value::Number(number) => number.as_f64(),
        _ => None,
    }
}

/// The most that the containers of a pod take together at any moment: of each container, in the order of their starts, the amount, and
/// whether the container runs beside all later ones. Source: Kubernetes, `component-helpers/resource`, `AggregateContainerRequests`.
pub(crate) fn at_a_time(containers: impl Iterator<Item = (f64, bool)>) -> f64 {
    let (mut together, mut most) = (0.0, 0.0_f64);
    for (amount, runs_on) in containers {
        let now = together + amount;
        most = most.max(now);
        if runs_on {
            together = now;
        }
    }
    most
}

/// Reads a number that may have one of the suffixes, or an exponent; `None` for any other text.
fn parse(text: &str) -> Option<f64> {
    let suffixed = SUFFIXES.iter().find_map(|(suffix, times)| {
        let number = number(text.strip_suffix(suffix)?)?;
        Some(number * times)
    });
    suffixed.or_else(|| number(text))
}

fn number(text: &str) -> Option<f64> {
    // Rust reads `inf` and `nan` as numbers, too.
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn quantities_are_read_as_kubernetes_writes_them() {
        for (quantity, number) in [
            (json!("500m"), 0.5),
            (json!("1500m"), 1.5),
            (json!("2"), 2.0),
            (json!(2), 2.0),
            (json!("1.5Gi"), 1_610_612_736.0),
            (json!("2e3"), 2000.0),
            (json!("2E3"), 2000.0),
            (json!("1E"), 1e18),
            (json!("3k"), 3000.0),
        ] {
            assert_eq!(read(&quantity), Some(number), "{quantity}");
        }
        for none in [
            json!("much"),
            json!(""),
            json!("inf"),
            json!("nan"),
            json!(null),
        ] {
            assert_eq!(read(&none), None, "{none}");
        }
    }
}
