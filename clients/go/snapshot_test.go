package antiphon_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"antiphon"
	historyv1 "antiphon/history/v1"
	messagev1 "antiphon/message/v1"
)

// frames returns a whole snapshot of two messages, the second in a form that no
// encoder gives: a field that today's protos do not know, before the id.
func frames(t *testing.T) []*historyv1.ReadSnapshotResponse {
	t.Helper()
	first, err := proto.Marshal(&messagev1.Message{Id: "a"})
	if err != nil {
		t.Fatal(err)
	}
	second := append([]byte{0xf8, 0x3f, 0x01}, 0x0a, 0x01, 'b')
	sum := sha256.Sum256(append(append([]byte{}, first...), second...))
	header := &historyv1.SnapshotHeader{
		Branch:       &historyv1.Branch{BranchId: "x", Revision: 7},
		Incarnation:  "i",
		Revision:     7,
		System:       &messagev1.Message{Id: "s"},
		MessageCount: 2,
	}
	return []*historyv1.ReadSnapshotResponse{
		{Frame: &historyv1.ReadSnapshotResponse_Header{Header: header}},
		{Frame: &historyv1.ReadSnapshotResponse_Order{Order: &historyv1.SnapshotOrder{MessageIds: []string{"a", "b"}}}},
		{Frame: &historyv1.ReadSnapshotResponse_Batch{Batch: &historyv1.SnapshotBatch{Messages: [][]byte{first}}}},
		{Frame: &historyv1.ReadSnapshotResponse_Batch{Batch: &historyv1.SnapshotBatch{Messages: [][]byte{second}}}},
		{Frame: &historyv1.ReadSnapshotResponse_Footer{
			Footer: &historyv1.SnapshotFooter{MessageCount: 2, Sha256: sum[:]},
		}},
	}
}

// sending streams frames as a snapshot.
type sending struct {
	historyv1.UnimplementedHistoryServiceServer
	frames []*historyv1.ReadSnapshotResponse
}

func (s *sending) ReadSnapshot(
	_ *historyv1.ReadSnapshotRequest, stream historyv1.HistoryService_ReadSnapshotServer,
) error {
	for _, frame := range s.frames {
		if err := stream.Send(frame); err != nil {
			return err
		}
	}
	return nil
}

// read reads frames that travelled.
func read(t *testing.T, frames []*historyv1.ReadSnapshotResponse) (*antiphon.Snapshot, error) {
	t.Helper()
	connection := connect(t, func(server *grpc.Server) {
		historyv1.RegisterHistoryServiceServer(server, &sending{frames: frames})
	})
	return antiphon.ReadSnapshot(
		context.Background(), historyv1.NewHistoryServiceClient(connection), &historyv1.ReadSnapshotRequest{})
}

func TestAWholeSnapshot(t *testing.T) {
	sent := frames(t)
	snapshot, err := read(t, sent)
	if err != nil {
		t.Fatal(err)
	}
	if snapshot.Branch.GetBranchId() != "x" || snapshot.Incarnation != "i" || snapshot.Revision != 7 ||
		snapshot.System.GetId() != "s" {
		t.Errorf("%+v", snapshot)
	}
	if stored := sent[3].GetBatch().GetMessages()[0]; !bytes.Equal(snapshot.Stored[1], stored) {
		t.Errorf("stored %x, received %x", stored, snapshot.Stored[1])
	}
	messages, err := snapshot.Messages()
	if err != nil || len(messages) != 2 || messages[1].GetId() != "b" {
		t.Errorf("%v, %v", messages, err)
	}
}

func TestWhatIsNoWholeSnapshot(t *testing.T) {
	type change = func([]*historyv1.ReadSnapshotResponse) []*historyv1.ReadSnapshotResponse
	for name, change := range map[string]change{
		"nothing": func([]*historyv1.ReadSnapshotResponse) []*historyv1.ReadSnapshotResponse { return nil },
		"no header": func(all []*historyv1.ReadSnapshotResponse) []*historyv1.ReadSnapshotResponse {
			return all[1:]
		},
		"two headers": func(all []*historyv1.ReadSnapshotResponse) []*historyv1.ReadSnapshotResponse {
			return append(all[:1:1], all...)
		},
		"no footer": func(all []*historyv1.ReadSnapshotResponse) []*historyv1.ReadSnapshotResponse {
			return all[:4]
		},
		"more after the footer": func(all []*historyv1.ReadSnapshotResponse) []*historyv1.ReadSnapshotResponse {
			return append(all, all[2])
		},
		"a batch less": func(all []*historyv1.ReadSnapshotResponse) []*historyv1.ReadSnapshotResponse {
			return append(all[:3:3], all[4])
		},
		"order after messages": func(all []*historyv1.ReadSnapshotResponse) []*historyv1.ReadSnapshotResponse {
			all[1], all[2] = all[2], all[1]
			return all
		},
		"an id less in the order": func(all []*historyv1.ReadSnapshotResponse) []*historyv1.ReadSnapshotResponse {
			all[1].GetOrder().MessageIds = []string{"a"}
			return all
		},
		"batches in another order": func(all []*historyv1.ReadSnapshotResponse) []*historyv1.ReadSnapshotResponse {
			all[2], all[3] = all[3], all[2]
			return all
		},
		"another byte": func(all []*historyv1.ReadSnapshotResponse) []*historyv1.ReadSnapshotResponse {
			all[2].GetBatch().Messages[0][2]++
			return all
		},
		"another count in the header": func(all []*historyv1.ReadSnapshotResponse) []*historyv1.ReadSnapshotResponse {
			all[0].GetHeader().MessageCount = 3
			return all
		},
		"another count in the footer": func(all []*historyv1.ReadSnapshotResponse) []*historyv1.ReadSnapshotResponse {
			all[4].GetFooter().MessageCount = 1
			return all
		},
		"a delta": func(all []*historyv1.ReadSnapshotResponse) []*historyv1.ReadSnapshotResponse {
			all[1].Frame = &historyv1.ReadSnapshotResponse_Delta{Delta: &historyv1.SnapshotDelta{}}
			return all
		},
	} {
		if _, err := read(t, change(frames(t))); !errors.Is(err, antiphon.ErrIncomplete) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAMessageThatTheOrderDoesNotName(t *testing.T) {
	sent := frames(t)
	sent[1].GetOrder().MessageIds[1] = "c"
	snapshot, err := read(t, sent)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := snapshot.Messages(); !errors.Is(err, antiphon.ErrIncomplete) {
		t.Error(err)
	}
}

func TestADeltaIsNotAskedFor(t *testing.T) {
	request := &historyv1.ReadSnapshotRequest{SinceRevision: proto.Int64(1)}
	if _, err := antiphon.ReadSnapshot(context.Background(), nil, request); err == nil {
		t.Error("a snapshot since a revision was read")
	}
}
