mod drawn; // what `kubectl sluice graph` and `ui` draw beside the gate
pub(crate) mod judged; // what `kubectl sluice status` says beside the gate
mod page; // `kubectl sluice ui` in a browser
mod suggested; // what `kubectl sluice suggest` proposes
