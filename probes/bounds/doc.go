// Package bounds keeps what others send from taking this machine's memory: answers of API
// servers and documents of dumps are read piece by piece, and each piece may be so long, hold
// so many values and be nested so deeply, and no more. A few kilobytes of input can stand for
// gigabytes once they are decoded (repeated aliases of YAML, millions of empty objects, a
// compressed run of one letter), so that a bound on the bytes alone is not enough.
//
// What exceeds a bound is a [TooLargeError], which names what it was and the bound.
//
// Start reading at [Scanner].
package bounds
