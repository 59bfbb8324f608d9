package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"google.golang.org/protobuf/proto"

	"antiphon"
	compilerv1 "antiphon/compiler/v1"
	messagev1 "antiphon/message/v1"
)

func compiled(t *testing.T, text string) *compilerv1.CompileResponse {
	t.Helper()
	request := "{}"
	requestDigest := antiphon.RequestDigest(request)
	response := &compilerv1.CompileResponse{
		Messages: []*compilerv1.CompiledMessage{{
			Role:    messagev1.Role_ROLE_USER,
			Content: &compilerv1.CompiledMessage_Text{Text: text},
		}},
		ProviderRequestJson: &request,
		RequestDigest:       &requestDigest,
	}
	digest, err := antiphon.MessagesDigest(response)
	if err != nil {
		t.Fatal(err)
	}
	response.MessagesDigest = digest
	return response
}

func framed(t *testing.T, responses ...*compilerv1.CompileResponse) *bytes.Buffer {
	t.Helper()
	frames := new(bytes.Buffer)
	for _, response := range responses {
		encoded, err := proto.Marshal(response)
		if err != nil {
			t.Fatal(err)
		}
		if err := binary.Write(frames, binary.BigEndian, uint32(len(encoded))); err != nil {
			t.Fatal(err)
		}
		frames.Write(encoded)
	}
	return frames
}

func TestRightDigestsAreCounted(t *testing.T) {
	checked, err := check(framed(t, compiled(t, "a"), compiled(t, "b")))
	if checked != 2 || err != nil {
		t.Errorf("%d checked, %v", checked, err)
	}
}

func TestTheFirstWrongDigestEndsIt(t *testing.T) {
	otherMessages, otherRequest := compiled(t, "a"), compiled(t, "a")
	otherMessages.Messages[0].Content = &compilerv1.CompiledMessage_Text{Text: "b"}
	*otherRequest.ProviderRequestJson = "{ }"
	for name, wrong := range map[string]*compilerv1.CompileResponse{
		"messages": otherMessages,
		"request":  otherRequest,
	} {
		if checked, err := check(framed(t, compiled(t, "a"), wrong)); checked != 1 || err == nil {
			t.Errorf("%s: %d checked, %v", name, checked, err)
		}
	}
}

func TestAnInputThatIsCutIsAnError(t *testing.T) {
	frames := framed(t, compiled(t, "a"))
	for _, length := range []int{2, frames.Len() - 1} {
		if _, err := check(io.LimitReader(bytes.NewReader(frames.Bytes()), int64(length))); err == nil {
			t.Errorf("%d bytes are taken for whole", length)
		}
	}
}
