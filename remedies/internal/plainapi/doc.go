// Package fakeapi is a Kubernetes API in memory, for tests of what is written to one. It
// needs no network: a client reaches it through a transport. What it says is what a real
// server says in the same situation: uids and resource versions, preconditions, dry runs,
// the managed fields (by the server's own code, so that an eleventh manager has earlier
// ones put together as ancient-changes), and the words of its refusals.
//
// It has no admission, no defaults and no controllers, does not check an object against a
// schema, and knows neither watches nor patches. Where those matter the lab has a real server.
//
// Start reading at [API].
package plainapi
