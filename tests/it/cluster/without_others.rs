mod api_service; // of a server that is not there
mod argo; // kinds that have one name for everybody
mod rules; // the administrator's, in CEL
