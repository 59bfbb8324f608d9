package antiphon

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"time"

	"google.golang.org/grpc/codes"

	historyv1 "antiphon/history/v1"
)

const (
	firstDelay   = 100 * time.Millisecond
	longestDelay = 2 * time.Second
)

// Position is where a watch stands: after a revision of one incarnation of a
// branch. The zero value is before every retained change.
type Position struct {
	// Revision is the last revision seen.
	Revision int64
	// Incarnation is the one that the revision belongs to. Empty: the branch's own.
	Incarnation string
}

// BranchWatch follows a branch, change by change, across cuts of the connection:
// every change comes once, in order. It is for one goroutine.
type BranchWatch struct {
	client    historyv1.HistoryServiceClient
	branchID  string
	position  Position
	ctx       context.Context
	cancel    context.CancelFunc
	stream    historyv1.HistoryService_WatchBranchClient
	connected bool
	failures  uint
	ended     bool
}

// WatchBranch begins to follow a branch after a position. The watch lives until
// ctx is done or Close is called. Keep Position beside what you make of a
// change: a program that is killed goes on from there and misses nothing.
func WatchBranch(
	ctx context.Context, client historyv1.HistoryServiceClient, branchID string, after Position,
) *BranchWatch {
	ctx, cancel := context.WithCancel(ctx)
	return &BranchWatch{client: client, branchID: branchID, position: after, ctx: ctx, cancel: cancel}
}

// Position returns where the watch stands: after the last change that Next
// returned or skipped.
func (w *BranchWatch) Position() Position {
	return w.position
}

// Close ends the watch from this side.
func (w *BranchWatch) Close() {
	w.cancel()
}

// Next waits for the next change. After a cut it connects again, first after 0.1
// seconds, at the longest every 2 seconds. After the change that deleted the
// branch it returns io.EOF. Errors: those of WatchBranch other than UNAVAILABLE;
// UNAVAILABLE too as long as the watch was never connected; a change of a kind
// that this client does not know and must not skip.
func (w *BranchWatch) Next() (*historyv1.BranchChange, error) {
	for !w.ended {
		frame, err := w.receive()
		if err != nil {
			if err := w.recover(err); err != nil {
				return nil, err
			}
			continue
		}
		w.connected, w.failures = true, 0
		change := frame.GetChange()
		// A resumed stream may repeat what came before the cut.
		if change == nil || change.GetRevision() <= w.position.Revision {
			continue
		}
		known := historyv1.BranchChangeKind_name[int32(change.GetKind())] != ""
		if !known && !change.GetIgnorable() {
			return nil, fmt.Errorf("antiphon: revision %d is a change of the unknown kind %d",
				change.GetRevision(), change.GetKind())
		}
		w.position = Position{change.GetRevision(), change.GetIncarnation()}
		w.ended = change.GetKind() == historyv1.BranchChangeKind_BRANCH_CHANGE_KIND_DELETED
		if known {
			return change, nil
		}
	}
	return nil, io.EOF
}

// receive returns the next frame, of a new stream where there is none.
func (w *BranchWatch) receive() (*historyv1.WatchBranchResponse, error) {
	if w.stream == nil {
		stream, err := w.client.WatchBranch(w.ctx, &historyv1.WatchBranchRequest{
			BranchId:      w.branchID,
			AfterRevision: w.position.Revision,
			Incarnation:   w.position.Incarnation,
		})
		if err != nil {
			return nil, err
		}
		w.stream = stream
	}
	return w.stream.Recv()
}

// recover waits until it is time to connect again, or returns why that is pointless.
func (w *BranchWatch) recover(cause error) error {
	w.stream = nil
	answer, ok := FromError(cause)
	// A watch has no end of its own: one that ends without an error was cut too.
	cut := cause == io.EOF || ok && answer.Code == codes.Unavailable
	if !cut || !w.connected {
		return cause
	}
	delay := longestDelay
	if w.failures < 5 {
		delay = firstDelay << w.failures
	}
	w.failures++
	// Spread, so that the watchers of a restarted service do not all come at once.
	timer := time.NewTimer(delay/2 + time.Duration(rand.Int63n(int64(delay/2))))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
}
