//! What a dependent needs beyond kstatus: the `ready` rules, and the other states.

use crate::dependency::State;
use crate::kinds::Kind;
use crate::verdict::Judged;
use crate::world::World;
use jiff::Timestamp;
use serde_json::Value;

/// Judges one object that was found, against the state that an edge asks for.
pub fn judge(_kind: &Kind, _object: &Value, _state: State, _world: &dyn World, _now: Timestamp) -> Judged {
    unimplemented!("stub")
}
