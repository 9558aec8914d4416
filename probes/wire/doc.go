// Package wire is what every request to an API server goes through, to the Supervisor's and to
// those of workload clusters alike. None of them is trusted with the engineer's machine or
// login:
//
//   - Credentials go to one scheme, host and port, whatever a redirect says ([Transport]).
//   - An answer is bounded in bytes after it was unpacked, in values and in depth; a list has at most
//     the items that were asked for, and is read item by item ([Client.Page]).
//   - A server that asks to be left alone is left alone for as long as it says, an hour at most,
//     and nobody sleeps meanwhile who cannot be woken ([WaitError]).
//   - What a server sends back of the credentials is blanked before anybody sees it.
//
// It never writes to a cluster by itself, and reads nothing but what it is asked for.
//
// Start reading at [Transport] and [Client].
package wire
