mod api_service; // of a server that is not there
mod argo; // kinds with one name for the whole cluster
mod certificates; // rotated, lost, overwritten, handed on, issued
mod conditions; // of pods, where the administrator wants them
mod events; // of one wait, once
mod held_seen; // pods, by the command line
mod helm_test; // what `helm test` says of sluice
mod node_rules; // of the administrator, for every labelled namespace
mod opted_in; // what the administrator has to turn on
mod pages; // the blocks of the documentation about the whole cluster
mod replica; // of sluice, deleted while a cap counts
mod rights; // what sluice's own account may do
mod rules; // the administrator's, in CEL
mod settings; // what `kubectl sluice status` judges by
mod when; // how long after its dependency an application starts
