package antiphon

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	historyv1 "antiphon/history/v1"
)

// Error is what a service answered in place of a reply. The registries of
// reasons, with what a caller does about each, are the enums ErrorReason of
// historyv1 and compilerv1.
type Error struct {
	// Code is the gRPC status code.
	Code codes.Code
	// Message is for people and no part of the contract.
	Message string
	// Reason is the registry's name without its prefix, such as
	// "REVISION_CONFLICT". Empty where the status came from no service: a
	// deadline, a cancellation, a broken connection.
	Reason string
	// Domain says whose reason it is: "antiphon.history" or "antiphon.compiler".
	Domain string
	// Metadata holds the facts of the reason.
	Metadata map[string]string
	// Fields are the request's fields that broke a rule: 50 at most.
	Fields []FieldViolation
	// RevisionConflict tells the branch's revision. Nil for any other reason.
	RevisionConflict *historyv1.RevisionConflict
	// RetryDelay is how long to wait before the call is sent again. Zero where
	// the service did not say.
	RetryDelay time.Duration
	// Details are all the details of the status, decoded. One of a type that is
	// not linked in stands as the error that decoding it gave.
	Details []interface{}

	status *status.Status
}

// FieldViolation is one field that broke a rule.
type FieldViolation struct {
	// Field is its path, such as "messages[3].action_request.arguments_json".
	Field string
	// Description says which rule, for people.
	Description string
}

// FromError returns the answer of a service that is err or that err wraps. It
// returns false for nil and for an error that did not come from a call.
func FromError(err error) (*Error, bool) {
	var known *Error
	if errors.As(err, &known) {
		return known, true
	}
	var carrier interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &carrier) {
		return nil, false
	}
	answer := carrier.GRPCStatus()
	if answer.Code() == codes.OK {
		return nil, false
	}
	decoded := &Error{Code: answer.Code(), Message: answer.Message(), Details: answer.Details(), status: answer}
	for _, detail := range decoded.Details {
		decoded.take(detail)
	}
	return decoded, true
}

func (e *Error) take(detail interface{}) {
	switch detail := detail.(type) {
	case *errdetails.ErrorInfo:
		e.Reason, e.Domain, e.Metadata = detail.GetReason(), detail.GetDomain(), detail.GetMetadata()
	case *errdetails.BadRequest:
		for _, violation := range detail.GetFieldViolations() {
			e.Fields = append(e.Fields, FieldViolation{violation.GetField(), violation.GetDescription()})
		}
	case *errdetails.RetryInfo:
		delay := detail.GetRetryDelay()
		e.RetryDelay = time.Duration(delay.GetSeconds())*time.Second + time.Duration(delay.GetNanos())
	case *historyv1.RevisionConflict:
		e.RevisionConflict = detail
	}
}

// Error returns the reason, or the code where there is none, and the message.
func (e *Error) Error() string {
	name := e.Reason
	if name == "" {
		name = e.Code.String()
	}
	return fmt.Sprintf("antiphon: %s: %s", name, e.Message)
}

// GRPCStatus returns the status as it came, so that status.Code and its like
// take an *Error as they take the error of a call.
func (e *Error) GRPCStatus() *status.Status {
	return e.status
}
