package antiphon_test

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"antiphon"
	compilerv1 "antiphon/compiler/v1"
	messagev1 "antiphon/message/v1"
)

func TestDigestsAreThoseOfTheVectors(t *testing.T) {
	text, err := os.ReadFile("../../tests/contract/scenarios/vectors/digests.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		About    string
		Response json.RawMessage
		Digest   string
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 10 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	for _, vector := range vectors {
		response := new(compilerv1.CompileResponse)
		if err := protojson.Unmarshal(vector.Response, response); err != nil {
			t.Fatal(err)
		}
		digest, err := antiphon.MessagesDigest(response)
		if err != nil || digest != vector.Digest {
			t.Errorf("%s: %s, %v, not %s", vector.About, digest, err, vector.Digest)
		}
	}
}

func TestWhatHasNoCanonicalForm(t *testing.T) {
	thinking := &messagev1.ContentBlock{Block: &messagev1.ContentBlock_Thinking{Thinking: &messagev1.Thinking{}}}
	for name, message := range map[string]*compilerv1.CompiledMessage{
		"no content": {},
		"no part":    parts(&compilerv1.Part{}),
		"a block that results have not": parts(&compilerv1.Part{Part: &compilerv1.Part_ToolResult{
			ToolResult: &compilerv1.CompiledResult{Content: []*messagev1.ContentBlock{thinking}},
		}}),
	} {
		response := &compilerv1.CompileResponse{Messages: []*compilerv1.CompiledMessage{message}}
		if digest, err := antiphon.MessagesDigest(response); err == nil {
			t.Errorf("%s gives %s", name, digest)
		}
	}
}

func parts(all ...*compilerv1.Part) *compilerv1.CompiledMessage {
	return &compilerv1.CompiledMessage{Content: &compilerv1.CompiledMessage_Parts{Parts: &compilerv1.Parts{Parts: all}}}
}

func TestDigestsAreVerified(t *testing.T) {
	whole := compiled(t, "hello", `{"model":"m"}`)
	if err := antiphon.VerifyDigests(whole); err != nil {
		t.Error(err)
	}
	otherMessages := compiled(t, "hello", `{"model":"m"}`)
	otherMessages.Messages[0].Role = messagev1.Role_ROLE_ASSISTANT
	if err := antiphon.VerifyDigests(otherMessages); !errors.Is(err, antiphon.ErrIncomplete) {
		t.Errorf("other messages: %v", err)
	}
	otherRequest := compiled(t, "hello", `{"model":"m"}`)
	otherRequest.ProviderRequestJson = proto.String(`{"model": "m"}`)
	if err := antiphon.VerifyDigests(otherRequest); !errors.Is(err, antiphon.ErrIncomplete) {
		t.Errorf("another request: %v", err)
	}
}

// compiled returns a compilation of one text, with its digests.
func compiled(t *testing.T, text, request string) *compilerv1.CompileResponse {
	t.Helper()
	response := &compilerv1.CompileResponse{
		Messages: []*compilerv1.CompiledMessage{{
			Role: messagev1.Role_ROLE_USER, Content: &compilerv1.CompiledMessage_Text{Text: text},
		}},
		ProviderRequestJson: proto.String(request),
		RequestDigest:       proto.String(antiphon.RequestDigest(request)),
	}
	digest, err := antiphon.MessagesDigest(response)
	if err != nil {
		t.Fatal(err)
	}
	response.MessagesDigest = digest
	return response
}
