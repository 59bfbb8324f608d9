package antiphon_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/golang/protobuf/ptypes"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"antiphon"
	historyv1 "antiphon/history/v1"
)

// refusing answers every GetBranch with an error.
type refusing struct {
	historyv1.UnimplementedHistoryServiceServer
	err error
}

func (r *refusing) GetBranch(context.Context, *historyv1.GetBranchRequest) (*historyv1.GetBranchResponse, error) {
	return nil, r.err
}

// answerOf returns what a client makes of an error that travelled.
func answerOf(t *testing.T, err error) *antiphon.Error {
	t.Helper()
	connection := connect(t, func(server *grpc.Server) {
		historyv1.RegisterHistoryServiceServer(server, &refusing{err: err})
	})
	_, failure := historyv1.NewHistoryServiceClient(connection).GetBranch(
		context.Background(), &historyv1.GetBranchRequest{})
	answer, ok := antiphon.FromError(fmt.Errorf("while reading: %w", failure))
	if !ok {
		t.Fatalf("no answer in %v", failure)
	}
	return answer
}

func TestAnErrorHasAllItsDetails(t *testing.T) {
	refusal, err := status.New(codes.Aborted, "the branch moved on").WithDetails(
		&errdetails.ErrorInfo{
			Reason: "REVISION_CONFLICT", Domain: "antiphon.history", Metadata: map[string]string{"actual": "9007199254740993"},
		},
		&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{
			{Field: "messages[3].id", Description: "no UUID"}, {Field: "branch_id"},
		}},
		&errdetails.RetryInfo{RetryDelay: ptypes.DurationProto(1500 * time.Millisecond)},
		&historyv1.RevisionConflict{BranchId: "b", ExpectedRevision: 1, ActualRevision: 9007199254740993},
	)
	if err != nil {
		t.Fatal(err)
	}
	answer := answerOf(t, refusal.Err())
	if answer.Code != codes.Aborted || answer.Message != "the branch moved on" {
		t.Errorf("code and message: %v, %q", answer.Code, answer.Message)
	}
	if answer.Reason != "REVISION_CONFLICT" || answer.Domain != "antiphon.history" {
		t.Errorf("reason and domain: %q, %q", answer.Reason, answer.Domain)
	}
	if want := map[string]string{"actual": "9007199254740993"}; !reflect.DeepEqual(answer.Metadata, want) {
		t.Errorf("metadata: %v", answer.Metadata)
	}
	want := []antiphon.FieldViolation{{Field: "messages[3].id", Description: "no UUID"}, {Field: "branch_id"}}
	if !reflect.DeepEqual(answer.Fields, want) {
		t.Errorf("fields: %v", answer.Fields)
	}
	if answer.RetryDelay != 1500*time.Millisecond {
		t.Errorf("delay: %v", answer.RetryDelay)
	}
	if conflict := answer.RevisionConflict; conflict.GetExpectedRevision() != 1 ||
		conflict.GetActualRevision() != 9007199254740993 {
		t.Errorf("conflict: %v", conflict)
	}
	if len(answer.Details) != 4 {
		t.Errorf("%d details", len(answer.Details))
	}
	if answer.Error() != "antiphon: REVISION_CONFLICT: the branch moved on" {
		t.Errorf("text: %s", answer.Error())
	}
	if status.Code(answer) != codes.Aborted {
		t.Errorf("status.Code gives %v", status.Code(answer))
	}
}

func TestAnErrorWithoutDetailsHasItsCodeAlone(t *testing.T) {
	answer := answerOf(t, status.Error(codes.DeadlineExceeded, "too late"))
	if answer.Code != codes.DeadlineExceeded || answer.Reason != "" || answer.RevisionConflict != nil ||
		answer.RetryDelay != 0 || len(answer.Fields) != 0 {
		t.Errorf("%+v", answer)
	}
	if answer.Error() != "antiphon: DeadlineExceeded: too late" {
		t.Errorf("text: %s", answer.Error())
	}
}

func TestWhatIsNoAnswer(t *testing.T) {
	for _, err := range []error{nil, errors.New("other"), context.Canceled} {
		if answer, ok := antiphon.FromError(err); ok {
			t.Errorf("%v gives %+v", err, answer)
		}
	}
}

func TestAnAnswerIsKnownAgain(t *testing.T) {
	first := answerOf(t, status.Error(codes.NotFound, "gone"))
	again, ok := antiphon.FromError(fmt.Errorf("deeper: %w", first))
	if !ok || again != first {
		t.Errorf("%v is not %v", again, first)
	}
}
