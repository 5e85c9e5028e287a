mod api_service; // of a server that is not there
mod argo; // kinds with one name for the whole cluster
mod certificates; // rotated, lost, overwritten, handed on, issued
mod conditions; // of pods, where the administrator wants them
mod creations; // of objects, held until their lists are satisfied
mod events; // of one wait, once
mod held_seen; // pods, by the command line
mod helm_test; // what `helm test` says of sluice
mod holds; // pods that wait before they take a node
mod pages; // the blocks of the documentation about the whole cluster
mod replica; // of sluice, deleted while a cap counts
mod rights; // what sluice's own account may do
mod rules; // the administrator's, in CEL
mod settings; // what `kubectl sluice status` judges by
mod suspended; // Jobs, where the administrator has turned holds on
mod when; // how long after its dependency an application starts
