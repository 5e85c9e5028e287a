//! The rules of sluice, without any I/O.
//!
//! The nouns, as the whole project uses them:
//!
//! * a **dependent** is the workload (or pod) that waits;
//! * a **dependency** is one thing it waits for, written in its list; an *edge* is dependent -> dependency;
//! * a **reference** is how a dependency is named: an object by its name, objects by a selector, a group, a sub-chart,
//!   a release, a wave, or some of several;
//! * a **scope** is the release or application that an object belongs to ([`scope`]);
//! * a **status** is what kstatus says of one object: `Current InProgress Failed Terminating NotFound Unknown`;
//! * a **state** is what an edge asks for: `present started ready available complete addressed connects`;
//! * a **verdict** is what a gate is told: `wait`, `open` or `refuse`, with a reason for each dependency.
//!
//! Floors, top to bottom; a module imports only from floors below its own:
//! * verdict
//! * advice
//! * slots
//! * dependent, health
//! * node_rules
//! * plan, profile
//! * world
//! * cause, holder, memory, probed, reboot, room
//! * readiness, scope
//! * annotation, edges
//! * variables
//! * dependency, ending_kinds, fit, hold, judged, kept, rights, uses
//! * expression, gate, installer, job, jsonpath, kinds, object
//! * comparison, creation, definition, keys, kstatus, lookup, ordinals, quantity, rollout, selector, shards, suggest, terms, text, version
//! * path
//!
//! The flow: [`annotation`] turns text into [`dependency::Dependency`] values; [`kstatus`] judges one object as
//! kstatus does; [`profile`] adds what a dependent needs beyond that, and takes the word of an object that says itself
//! when it is healthy ([`expression`]; [`readiness`] on [`jsonpath`]), or of the administrator's rule for its kind
//! ([`health`]); [`verdict`] puts the edges of one dependent
//! together, out of what was found of each ([`judged`]), and says it in the words of [`wire`], which a gate understands.
//!
//! Objects arrive as [`serde_json::Value`] and time as an argument. A rule reads everything else through the [`world::World`]
//! trait, which answers with a [`lookup::Lookup`]. Nothing here opens a file or a socket, and nothing here waits.

pub mod advice;
pub mod annotation;
pub mod cause;
pub mod comparison;
pub mod creation;
pub mod definition;
pub mod dependency;
pub mod dependent;
pub mod edges;
pub mod ending_kinds;
pub mod expression;
pub mod fit;
pub mod gate;
pub mod health;
pub mod hold;
pub mod holder;
pub mod installer;
pub mod job;
pub mod jsonpath;
pub mod judged;
pub mod kept;
pub mod keys;
pub mod kinds;
pub mod kstatus;
pub mod lookup;
pub mod memory;
mod node_rules;
pub mod object;
pub mod ordinals;
pub mod path;
pub mod plan;
pub mod probed;
pub mod profile;
pub mod quantity;
pub mod readiness;
pub mod reboot;
pub mod rights;
pub mod rollout;
pub mod room;
pub mod scope;
pub mod selector;
pub mod shards;
pub mod slots;
pub mod suggest;
pub mod terms;
mod text;
pub mod uses;
pub mod variables;
pub mod verdict;
pub mod version;
pub mod world;
