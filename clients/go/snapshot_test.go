package antiphon_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"reflect"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
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

// joined returns frames as one.
func joined(frames ...*historyv1.ReadSnapshotResponse) *historyv1.ReadSnapshotResponse {
	all := new(historyv1.SnapshotFrames)
	for _, frame := range frames {
		switch part := frame.GetFrame().(type) {
		case *historyv1.ReadSnapshotResponse_Header:
			all.Header = part.Header
		case *historyv1.ReadSnapshotResponse_Order:
			all.Orders = append(all.Orders, part.Order)
		case *historyv1.ReadSnapshotResponse_Batch:
			all.Batches = append(all.Batches, part.Batch)
		case *historyv1.ReadSnapshotResponse_Footer:
			all.Footer = part.Footer
		case *historyv1.ReadSnapshotResponse_Delta:
			all.Deltas = append(all.Deltas, part.Delta)
		}
	}
	return &historyv1.ReadSnapshotResponse{Frame: &historyv1.ReadSnapshotResponse_Joined{Joined: all}}
}

// sending streams frames as a snapshot, to a caller that takes them joined.
type sending struct {
	historyv1.UnimplementedHistoryServiceServer
	frames []*historyv1.ReadSnapshotResponse
}

func (s *sending) ReadSnapshot(
	request *historyv1.ReadSnapshotRequest, stream historyv1.HistoryService_ReadSnapshotServer,
) error {
	if request.GetBranchId() != "x" || !request.GetTakesJoined() {
		return status.Errorf(codes.InvalidArgument, "asked for %v", request)
	}
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
	request := &historyv1.ReadSnapshotRequest{BranchId: "x"}
	snapshot, err := antiphon.ReadSnapshot(context.Background(), historyv1.NewHistoryServiceClient(connection), request)
	if request.GetTakesJoined() {
		t.Error("the caller's request was changed")
	}
	return snapshot, err
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

func TestJoinedFramesAreTheSameSnapshot(t *testing.T) {
	single, err := read(t, frames(t))
	if err != nil {
		t.Fatal(err)
	}
	all := frames(t)
	for name, sent := range map[string][]*historyv1.ReadSnapshotResponse{
		"all in one":         {joined(all...)},
		"some":               {all[0], joined(all[1:3]...), all[3], joined(all[4])},
		"two joined ones":    {joined(all[:3]...), joined(all[3:]...)},
		"nothing in one too": {joined(), joined(all...)},
	} {
		snapshot, err := read(t, sent)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !proto.Equal(snapshot.Branch, single.Branch) || !proto.Equal(snapshot.System, single.System) ||
			snapshot.Incarnation != single.Incarnation || snapshot.Revision != single.Revision ||
			!reflect.DeepEqual(snapshot.MessageIDs, single.MessageIDs) ||
			!reflect.DeepEqual(snapshot.Stored, single.Stored) {
			t.Errorf("%s: %+v, not %+v", name, snapshot, single)
		}
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
		"joined without the header": func(all []*historyv1.ReadSnapshotResponse) []*historyv1.ReadSnapshotResponse {
			return []*historyv1.ReadSnapshotResponse{joined(all[1:]...)}
		},
		"joined without the footer": func(all []*historyv1.ReadSnapshotResponse) []*historyv1.ReadSnapshotResponse {
			return []*historyv1.ReadSnapshotResponse{joined(all[:4]...)}
		},
		"joined twice": func(all []*historyv1.ReadSnapshotResponse) []*historyv1.ReadSnapshotResponse {
			return []*historyv1.ReadSnapshotResponse{joined(all...), joined(all...)}
		},
		"order joined after messages": func(all []*historyv1.ReadSnapshotResponse) []*historyv1.ReadSnapshotResponse {
			return []*historyv1.ReadSnapshotResponse{joined(all[0], all[2]), joined(all[1], all[3], all[4])}
		},
		"a delta joined": func(all []*historyv1.ReadSnapshotResponse) []*historyv1.ReadSnapshotResponse {
			delta := &historyv1.ReadSnapshotResponse_Delta{Delta: &historyv1.SnapshotDelta{}}
			return []*historyv1.ReadSnapshotResponse{joined(append(all, &historyv1.ReadSnapshotResponse{Frame: delta})...)}
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
