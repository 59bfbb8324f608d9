// Package antiphon is what a Go program needs beside the generated stubs to use
// Antiphon's services well: errors with their details, proof that a stream is
// whole, the digest of what a model saw, request ids, and a watch that resumes.
//
// The stubs are in antiphon/message/v1, antiphon/history/v1 and
// antiphon/compiler/v1; the comments of the protos they come from are the manual.
package antiphon

import "errors"

// ErrIncomplete is in the chain of every error about a stream that ended early,
// has a frame out of place, or holds other bytes than its sender counted and hashed.
// Nothing of such a stream may be used; read it again.
var ErrIncomplete = errors.New("antiphon: the stream is not whole")
