mod api_service; // of a server that is not there
mod argo; // kinds that have one name for everybody
mod replica;
mod rules; // the administrator's, in CEL // of sluice, deleted while a cap counts
