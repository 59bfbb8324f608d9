package antiphon

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"
)

// NewID returns a random UUID (version 4) in the canonical text that the
// services ask for, for a branch or a message.
func NewID() string {
	id := randomUUID()
	setVersion(&id, 4)
	return uuidText(id)
}

// NewRequestID returns a UUID ordered by time (version 7), for the request_id of
// a write. Make one for each write and send the same one with every repetition
// of it: the write then happens once.
func NewRequestID() string {
	id := randomUUID()
	var milliseconds [8]byte
	binary.BigEndian.PutUint64(milliseconds[:], uint64(time.Now().UnixMilli()))
	copy(id[:6], milliseconds[2:])
	setVersion(&id, 7)
	return uuidText(id)
}

func randomUUID() [16]byte {
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		// A system without randomness can make no unique id, and nothing else either.
		panic(fmt.Sprintf("antiphon: no randomness: %v", err))
	}
	return id
}

// setVersion writes the version and RFC 9562's variant.
func setVersion(id *[16]byte, version byte) {
	id[6] = id[6]&0x0f | version<<4
	id[8] = id[8]&0x3f | 0x80
}

func uuidText(id [16]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
