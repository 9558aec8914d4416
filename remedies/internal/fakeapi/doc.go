// Package fakeapi is a Kubernetes API in memory, for tests of what is written to one: it
// keeps uids, resourceVersions, preconditions, dry runs and managedFields as the API server
// does, and can fail as servers and networks do. It opens no socket; a client is an
// [http.RoundTripper].
//
// What it does not have: watches, patches, field and label selectors, admission of its own.
//
// Start reading at [Server].
package fakeapi
