// Package fakeapi is a Kubernetes API in memory, for tests of what is written to one: it
// keeps uids, resourceVersions, preconditions, dry runs and managedFields as the API server
// does, and can fail as servers and networks do. It opens no socket; a client is an
// [http.RoundTripper].
//
// What it does not have: watches, patches, admission of its own, and field selectors beyond an
// object's names.
//
// Start reading at [Server]; [API] is one with what tests of actions need around it.
package fakeapi
