mod admitted; // what admission makes of pods and workloads that are out of the ordinary
mod edits; // a list that is changed while pods wait
mod namespaces; // dependencies in other namespaces
mod patience; // entries with a timeout of their own, and entries that have to last
mod places; // which annotations count, and where they stand
mod refused; // what admission refuses, and in which words
mod selected; // entries that mean several objects
mod states; // the word behind the colon
mod terms; // timeouts, failures, what is asked again, and skipping
