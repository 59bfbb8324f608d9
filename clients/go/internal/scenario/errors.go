package scenario

import (
	"fmt"
	"sort"

	protov1 "github.com/golang/protobuf/proto"
	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/protobuf/proto"

	"antiphon"
)

const (
	errorInfoType = "google.rpc.ErrorInfo"
	retryInfoType = "google.rpc.RetryInfo"
)

// errorLeaves are the parts of an error that a transcript has.
var errorLeaves = []string{"code", "reason", "domain", "metadata", "fields"}

// callError is how a call failed, as values.
type callError struct {
	// leaves are what a transcript has; what is not there is left out.
	leaves object
	// details are all details in proto3 JSON by type name.
	details object
}

func newCallError(err *antiphon.Error) (*callError, error) {
	told := &callError{leaves: object{{"code", code.Code(err.Code).String()}}}
	for _, detail := range err.Details {
		if failure, ok := detail.(error); ok {
			return nil, fmt.Errorf("a detail of the error is not known: %w", failure)
		}
		message := protov1.MessageV2(detail)
		value, failure := toValue(message)
		if failure != nil {
			return nil, failure
		}
		told.details = append(told.details, member{typeName(message), value})
	}
	if told.details.has(errorInfoType) {
		told.leaves = append(told.leaves,
			member{"reason", err.Reason}, member{"domain", err.Domain}, member{"metadata", texts(err.Metadata)})
	}
	if len(err.Fields) > 0 {
		fields := list{}
		for _, violation := range err.Fields {
			fields = append(fields, violation.Field)
		}
		told.leaves = append(told.leaves, member{"fields", fields})
	}
	return told, nil
}

func typeName(message proto.Message) string {
	return string(message.ProtoReflect().Descriptor().FullName())
}

func texts(metadata map[string]string) object {
	members := object{}
	for name, text := range metadata {
		members = append(members, member{name, text})
	}
	sort.Slice(members, func(i, j int) bool { return members[i].name < members[j].name })
	return members
}

// check matches the error, nil for none, with what a step expects.
func (e *callError) check(expected any, replies int) error {
	wanted, ok := expected.(object)
	if !ok {
		return fmt.Errorf("an error is an object, not %s", show(expected))
	}
	if err := wanted.only("an error", append([]string{"details", "retry"}, errorLeaves...)...); err != nil {
		return err
	}
	if e == nil {
		return &mismatch{"/error", show(wanted), fmt.Sprintf("%d replies and no error", replies)}
	}
	for _, each := range wanted {
		var err error
		switch each.name {
		case "details":
			err = match(each.value, e.details, "/error/details")
		case "retry":
			err = match(each.value, e.details.has(retryInfoType), "/error/retry")
		default:
			err = match(each.value, e.leaves.get(each.name), memberPointer("/error", each.name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
