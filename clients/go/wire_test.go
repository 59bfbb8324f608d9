package antiphon_test

import (
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	compilerv1 "antiphon/compiler/v1"
	historyv1 "antiphon/history/v1"
	messagev1 "antiphon/message/v1"
)

// travel returns a copy of a message that was encoded and decoded, and one that
// went through JSON.
func travel[M proto.Message](t *testing.T, message M, first, second M) {
	t.Helper()
	encoded, err := proto.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.Unmarshal(encoded, first); err != nil {
		t.Fatal(err)
	}
	told, err := protojson.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	if err := protojson.Unmarshal(told, second); err != nil {
		t.Fatal(err)
	}
}

func TestPresenceSurvives(t *testing.T) {
	var empty, absent [2]messagev1.Message
	travel(t, &messagev1.Message{Channel: proto.String("")}, &empty[0], &empty[1])
	travel(t, &messagev1.Message{}, &absent[0], &absent[1])
	for index := range empty {
		if empty[index].Channel == nil || *empty[index].Channel != "" {
			t.Errorf("an empty channel became %v", empty[index].Channel)
		}
		if absent[index].Channel != nil {
			t.Errorf("an absent channel became %q", *absent[index].Channel)
		}
	}
}

func TestAnEmptyProgressionIsNotNone(t *testing.T) {
	var some, none [2]compilerv1.CompileRequest
	travel(t, &compilerv1.CompileRequest{Progression: &messagev1.Progression{}}, &some[0], &some[1])
	travel(t, &compilerv1.CompileRequest{}, &none[0], &none[1])
	for index := range some {
		if some[index].Progression == nil || none[index].Progression != nil {
			t.Errorf("%v, %v", some[index].Progression, none[index].Progression)
		}
	}
}

func TestIntegersAreExact(t *testing.T) {
	for _, revision := range []int64{0, 9007199254740993, 9223372036854775807, -9223372036854775808} {
		var copies [2]historyv1.GetBranchRequest
		travel(t, &historyv1.GetBranchRequest{AtRevision: proto.Int64(revision)}, &copies[0], &copies[1])
		for index := range copies {
			if copies[index].AtRevision == nil || copies[index].GetAtRevision() != revision {
				t.Errorf("%d became %v", revision, copies[index].AtRevision)
			}
		}
	}
}

func TestJSONTextIsVerbatim(t *testing.T) {
	text := "{ \"b\":1.50, \"a\":[9007199254740993,\"\\u00e9\", \"\u2028😀\"]}\x00"
	var copies [2]messagev1.GenericContent
	travel(t, &messagev1.GenericContent{ValueJson: text}, &copies[0], &copies[1])
	for index := range copies {
		if copies[index].GetValueJson() != text {
			t.Errorf("%q became %q", text, copies[index].GetValueJson())
		}
	}
}

func TestUnknownEnumValuesSurvive(t *testing.T) {
	var copies [2]messagev1.Message
	travel(t, &messagev1.Message{Role: 99}, &copies[0], &copies[1])
	for index := range copies {
		if copies[index].GetRole() != 99 {
			t.Errorf("99 became %v", copies[index].GetRole())
		}
	}
}
