//! Assembly only.
fn main() {}
