package antiphon

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	historyv1 "antiphon/history/v1"
	messagev1 "antiphon/message/v1"
)

// Snapshot is a selection of a branch at one revision, proven to be whole.
type Snapshot struct {
	// Branch is the branch at the revision read.
	Branch *historyv1.Branch
	// Incarnation is the branch's: keep what you derive from it under this too.
	Incarnation string
	// Revision is the revision read.
	Revision int64
	// System is the branch's system record, in the selection or not. Nil: it has none.
	System *messagev1.Message
	// MessageIDs is the selection's order.
	MessageIDs []string
	// Stored are the messages in that order, each encoded, byte for byte as the
	// service keeps it.
	Stored [][]byte
}

// Messages decodes the stored messages. It fails with ErrIncomplete where one is
// not the message that the order names.
func (s *Snapshot) Messages() ([]*messagev1.Message, error) {
	messages := make([]*messagev1.Message, len(s.Stored))
	for index, stored := range s.Stored {
		message := new(messagev1.Message)
		if err := proto.Unmarshal(stored, message); err != nil {
			return nil, fmt.Errorf("%w: snapshot message %d: %v", ErrIncomplete, index, err)
		}
		if message.GetId() != s.MessageIDs[index] {
			return nil, fmt.Errorf("%w: snapshot message %d is not the one that the order names", ErrIncomplete, index)
		}
		messages[index] = message
	}
	return messages, nil
}

// ReadSnapshot reads a snapshot to its end and checks it. The request's
// since_revision must be absent: a delta cannot be checked without the copy that
// it is of. A copy of the request is sent, with takes_joined. Errors: those of the
// call; ErrIncomplete. Cost: the selection is hashed and kept, not decoded.
func ReadSnapshot(
	ctx context.Context,
	client historyv1.HistoryServiceClient,
	request *historyv1.ReadSnapshotRequest,
	options ...grpc.CallOption,
) (*Snapshot, error) {
	if request.SinceRevision != nil {
		return nil, errors.New("antiphon: ReadSnapshot takes no since_revision")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sent := proto.Clone(request).(*historyv1.ReadSnapshotRequest)
	sent.TakesJoined = true
	stream, err := client.ReadSnapshot(ctx, sent, options...)
	if err != nil {
		return nil, err
	}
	assembler := NewSnapshotAssembler()
	for {
		frame, err := stream.Recv()
		if err == io.EOF {
			return assembler.Result()
		}
		if err != nil {
			return nil, err
		}
		if err := assembler.Add(frame); err != nil {
			return nil, err
		}
	}
}

// SnapshotAssembler puts the frames of one ReadSnapshot stream together. Give
// every frame to Add, in order, and ask for Result when the stream has ended.
type SnapshotAssembler struct {
	header   *historyv1.SnapshotHeader
	footer   *historyv1.SnapshotFooter
	ids      []string
	messages [][]byte
	sum      hash.Hash
}

// NewSnapshotAssembler returns an assembler of one stream.
func NewSnapshotAssembler() *SnapshotAssembler {
	return &SnapshotAssembler{sum: sha256.New()}
}

// Add takes the next frame, or those that it joins. It fails with ErrIncomplete
// where one has no place after those before it.
func (a *SnapshotAssembler) Add(response *historyv1.ReadSnapshotResponse) error {
	joined, several := response.GetFrame().(*historyv1.ReadSnapshotResponse_Joined)
	if !several {
		return a.take(response)
	}
	for _, frame := range apart(joined.Joined) {
		if err := a.take(frame); err != nil {
			return err
		}
	}
	return nil
}

// apart returns the frames that joined ones stand for, in their order.
func apart(joined *historyv1.SnapshotFrames) []*historyv1.ReadSnapshotResponse {
	var frames []*historyv1.ReadSnapshotResponse
	if header := joined.GetHeader(); header != nil {
		frames = append(frames, &historyv1.ReadSnapshotResponse{
			Frame: &historyv1.ReadSnapshotResponse_Header{Header: header},
		})
	}
	for _, order := range joined.GetOrders() {
		frames = append(frames, &historyv1.ReadSnapshotResponse{
			Frame: &historyv1.ReadSnapshotResponse_Order{Order: order},
		})
	}
	for _, delta := range joined.GetDeltas() {
		frames = append(frames, &historyv1.ReadSnapshotResponse{
			Frame: &historyv1.ReadSnapshotResponse_Delta{Delta: delta},
		})
	}
	for _, batch := range joined.GetBatches() {
		frames = append(frames, &historyv1.ReadSnapshotResponse{
			Frame: &historyv1.ReadSnapshotResponse_Batch{Batch: batch},
		})
	}
	if footer := joined.GetFooter(); footer != nil {
		frames = append(frames, &historyv1.ReadSnapshotResponse{
			Frame: &historyv1.ReadSnapshotResponse_Footer{Footer: footer},
		})
	}
	return frames
}

func (a *SnapshotAssembler) take(response *historyv1.ReadSnapshotResponse) error {
	header, opens := response.GetFrame().(*historyv1.ReadSnapshotResponse_Header)
	if opens != (a.header == nil) {
		return fmt.Errorf("%w: a snapshot begins with its one header", ErrIncomplete)
	}
	if a.footer != nil {
		return fmt.Errorf("%w: the snapshot goes on after its footer", ErrIncomplete)
	}
	if opens {
		a.header = header.Header
		return nil
	}
	switch frame := response.GetFrame().(type) {
	case *historyv1.ReadSnapshotResponse_Order:
		if len(a.messages) > 0 {
			return fmt.Errorf("%w: the order goes on after the messages began", ErrIncomplete)
		}
		a.ids = append(a.ids, frame.Order.GetMessageIds()...)
	case *historyv1.ReadSnapshotResponse_Batch:
		for _, message := range frame.Batch.GetMessages() {
			a.sum.Write(message)
			a.messages = append(a.messages, message)
		}
	case *historyv1.ReadSnapshotResponse_Footer:
		a.footer = frame.Footer
	default:
		return fmt.Errorf("%w: a frame of an unexpected kind: %T", ErrIncomplete, frame)
	}
	return nil
}

// Result returns the snapshot. It fails with ErrIncomplete where a part is
// missing, a count differs, or the messages are not the bytes that were hashed.
func (a *SnapshotAssembler) Result() (*Snapshot, error) {
	if a.header == nil || a.footer == nil {
		return nil, fmt.Errorf("%w: the snapshot ended before its footer", ErrIncomplete)
	}
	arrived := int64(len(a.messages))
	if arrived != a.header.GetMessageCount() || arrived != int64(len(a.ids)) || arrived != a.footer.GetMessageCount() {
		return nil, fmt.Errorf("%w: %d messages arrived; header, order and footer announce %d, %d and %d",
			ErrIncomplete, arrived, a.header.GetMessageCount(), len(a.ids), a.footer.GetMessageCount())
	}
	if !bytes.Equal(a.sum.Sum(nil), a.footer.GetSha256()) {
		return nil, fmt.Errorf("%w: the messages do not match the hash in the footer", ErrIncomplete)
	}
	return &Snapshot{
		Branch:      a.header.GetBranch(),
		Incarnation: a.header.GetIncarnation(),
		Revision:    a.header.GetRevision(),
		System:      a.header.GetSystem(),
		MessageIDs:  a.ids,
		Stored:      a.messages,
	}, nil
}
