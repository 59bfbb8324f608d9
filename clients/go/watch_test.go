package antiphon_test

import (
	"context"
	"errors"
	"io"
	"reflect"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"antiphon"
	historyv1 "antiphon/history/v1"
)

// session is what one WatchBranch call of a test's server sends, and how it ends.
type session struct {
	changes []*historyv1.BranchChange
	err     error
}

// watched serves its sessions, one for each call; after the last it refuses.
type watched struct {
	historyv1.UnimplementedHistoryServiceServer
	mutex    sync.Mutex
	sessions []session
	asked    []antiphon.Position
}

func (w *watched) WatchBranch(
	request *historyv1.WatchBranchRequest, stream historyv1.HistoryService_WatchBranchServer,
) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.asked = append(w.asked, antiphon.Position{
		Revision: request.GetAfterRevision(), Incarnation: request.GetIncarnation(),
	})
	if len(w.sessions) == 0 {
		return status.Error(codes.NotFound, "no more sessions")
	}
	next := w.sessions[0]
	w.sessions = w.sessions[1:]
	heartbeat := &historyv1.WatchBranchResponse{Frame: &historyv1.WatchBranchResponse_Heartbeat{
		Heartbeat: &historyv1.WatchHeartbeat{},
	}}
	for _, change := range next.changes {
		frame := &historyv1.WatchBranchResponse{Frame: &historyv1.WatchBranchResponse_Change{Change: change}}
		for _, each := range []*historyv1.WatchBranchResponse{heartbeat, frame} {
			if err := stream.Send(each); err != nil {
				return err
			}
		}
	}
	return next.err
}

func change(revision int64) *historyv1.BranchChange {
	return &historyv1.BranchChange{
		Revision: revision, Incarnation: "i", Kind: historyv1.BranchChangeKind_BRANCH_CHANGE_KIND_MEMBERSHIP,
	}
}

// follow watches until an error and returns the revisions seen before it.
func follow(t *testing.T, service *watched) ([]int64, error) {
	t.Helper()
	connection := connect(t, func(server *grpc.Server) { historyv1.RegisterHistoryServiceServer(server, service) })
	client := historyv1.NewHistoryServiceClient(connection)
	watch := antiphon.WatchBranch(context.Background(), client, "b", antiphon.Position{Revision: 1})
	defer watch.Close()
	var revisions []int64
	for {
		change, err := watch.Next()
		if err != nil {
			return revisions, err
		}
		if watch.Position() != (antiphon.Position{Revision: change.GetRevision(), Incarnation: "i"}) {
			t.Errorf("after revision %d the watch is at %+v", change.GetRevision(), watch.Position())
		}
		revisions = append(revisions, change.GetRevision())
	}
}

func TestAWatchGoesOnAfterACut(t *testing.T) {
	cut := status.Error(codes.Unavailable, "cut")
	service := &watched{sessions: []session{
		{changes: []*historyv1.BranchChange{change(2), change(3)}, err: cut},
		// No error at all is a cut too; and a change may come again.
		{changes: []*historyv1.BranchChange{change(3), change(4)}},
		{err: cut},
		{changes: []*historyv1.BranchChange{change(5)}, err: status.Error(codes.OutOfRange, "expired")},
	}}
	revisions, err := follow(t, service)
	if want := []int64{2, 3, 4, 5}; !reflect.DeepEqual(revisions, want) {
		t.Errorf("saw %v", revisions)
	}
	if status.Code(err) != codes.OutOfRange {
		t.Errorf("ended with %v", err)
	}
	asked := []antiphon.Position{{Revision: 1}, {3, "i"}, {4, "i"}, {4, "i"}}
	if !reflect.DeepEqual(service.asked, asked) {
		t.Errorf("asked for %v", service.asked)
	}
}

func TestAWatchThatNeverConnectedSaysSo(t *testing.T) {
	service := &watched{sessions: []session{{err: status.Error(codes.Unavailable, "down")}}}
	if revisions, err := follow(t, service); len(revisions) != 0 || status.Code(err) != codes.Unavailable {
		t.Errorf("%v, %v", revisions, err)
	}
}

func TestAWatchEndsWithItsBranch(t *testing.T) {
	deleted := change(3)
	deleted.Kind = historyv1.BranchChangeKind_BRANCH_CHANGE_KIND_DELETED
	service := &watched{sessions: []session{{changes: []*historyv1.BranchChange{change(2), deleted}}}}
	revisions, err := follow(t, service)
	if want := []int64{2, 3}; !reflect.DeepEqual(revisions, want) || err != io.EOF {
		t.Errorf("%v, %v", revisions, err)
	}
}

func TestAChangeOfAnUnknownKind(t *testing.T) {
	unknown, ignorable := change(3), change(3)
	unknown.Kind, ignorable.Kind = 99, 99
	ignorable.Ignorable = true
	revisions, err := follow(t, &watched{sessions: []session{{changes: []*historyv1.BranchChange{change(2), unknown}}}})
	if _, isAnswer := antiphon.FromError(err); len(revisions) != 1 || err == nil || isAnswer {
		t.Errorf("unknown: %v, %v", revisions, err)
	}
	revisions, err = follow(t, &watched{sessions: []session{{
		changes: []*historyv1.BranchChange{change(2), ignorable, change(4)}, err: status.Error(codes.Internal, "end"),
	}}})
	if want := []int64{2, 4}; !reflect.DeepEqual(revisions, want) || status.Code(err) != codes.Internal {
		t.Errorf("ignorable: %v, %v", revisions, err)
	}
}

func TestAWatchEndsWithItsContext(t *testing.T) {
	connection := connect(t, func(server *grpc.Server) {
		historyv1.RegisterHistoryServiceServer(server, &watched{sessions: []session{
			{changes: []*historyv1.BranchChange{change(2)}, err: status.Error(codes.Unavailable, "cut")},
		}})
	})
	ctx, cancel := context.WithCancel(context.Background())
	watch := antiphon.WatchBranch(ctx, historyv1.NewHistoryServiceClient(connection), "b", antiphon.Position{})
	if _, err := watch.Next(); err != nil {
		t.Fatal(err)
	}
	cancel()
	_, err := watch.Next()
	if !errors.Is(err, context.Canceled) && status.Code(err) != codes.Canceled {
		t.Error(err)
	}
}
