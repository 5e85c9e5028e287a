//! Tests of features that an administrator has to turn on. They run beside each other, with sluice installed anew once for all of them.

mod creations; // of objects, held until their lists are satisfied
mod holds; // pods that wait before they take a node
mod suspended; // Jobs that have no pod before their lists are satisfied
