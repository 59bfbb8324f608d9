package antiphon_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"antiphon"
	compilerv1 "antiphon/compiler/v1"
	historyv1 "antiphon/history/v1"
)

// recordings has a folder for every released version of the contract, with what
// it put on the wire.
const recordings = "../../tests/contract/wire"

// recorded is one recorded message.
type recorded struct {
	Type, Name, Hex string
	bytes           []byte
}

// eachRelease runs a test on the folder of every released version.
func eachRelease(t *testing.T, test func(t *testing.T, folder string)) {
	t.Helper()
	versions, err := filepath.Glob(filepath.Join(recordings, "[0-9]*"))
	if err != nil || len(versions) == 0 {
		t.Fatalf("no release is recorded: %v", err)
	}
	for _, folder := range versions {
		folder := folder
		t.Run(filepath.Base(folder), func(t *testing.T) { test(t, folder) })
	}
}

// readLines reads a file of recorded messages.
func readLines(t *testing.T, folder, name string) []recorded {
	t.Helper()
	file, err := os.Open(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []recorded
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one recorded
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		if one.bytes, err = hex.DecodeString(one.Hex); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	if err := lines.Err(); err != nil || len(all) == 0 {
		t.Fatalf("%s has %d messages: %v", name, len(all), err)
	}
	return all
}

// decode decodes a recorded message as the type that it says.
func decode(t *testing.T, one recorded) proto.Message {
	t.Helper()
	found, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(one.Type))
	if err != nil {
		t.Fatal(err)
	}
	message := found.New().Interface()
	if err := proto.Unmarshal(one.bytes, message); err != nil {
		t.Fatalf("%s, %s: %v", one.Type, one.Name, err)
	}
	return message
}

// unknown tells whether a message has a field that its type has not, at any depth.
func unknown(message protoreflect.Message) bool {
	found := len(message.GetUnknown()) > 0
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Message() == nil:
		case field.IsList():
			for index := 0; index < value.List().Len(); index++ {
				found = found || unknown(value.List().Get(index).Message())
			}
		default:
			found = found || unknown(value.Message())
		}
		return !found
	})
	return found
}

// encode encodes a message with its fields in the order of their numbers, as it
// was recorded. Go's own encoder puts those of a oneof last, which the format
// leaves to every library.
func encode(t *testing.T, message protoreflect.Message) []byte {
	t.Helper()
	var fields []protoreflect.FieldDescriptor
	message.Range(func(field protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		fields = append(fields, field)
		return true
	})
	sort.Slice(fields, func(one, other int) bool { return fields[one].Number() < fields[other].Number() })
	var encoded []byte
	add := func(field protoreflect.FieldDescriptor, value protoreflect.Value) {
		encoded = protowire.AppendTag(encoded, field.Number(), protowire.BytesType)
		encoded = protowire.AppendBytes(encoded, encode(t, value.Message()))
	}
	for _, field := range fields {
		value := message.Get(field)
		switch {
		case field.Message() == nil:
			alone := message.New()
			alone.Set(field, value)
			bytes, err := proto.Marshal(alone.Interface())
			if err != nil {
				t.Fatal(err)
			}
			encoded = append(encoded, bytes...)
		case field.IsList():
			for index := 0; index < value.List().Len(); index++ {
				add(field, value.List().Get(index))
			}
		default:
			add(field, value)
		}
	}
	return append(encoded, message.GetUnknown()...)
}

func TestRecordedMessagesAreReadAndWrittenAgainToTheSameBytes(t *testing.T) {
	eachRelease(t, func(t *testing.T, folder string) {
		for _, name := range []string{"messages.jsonl", "stored.jsonl", "compiled.jsonl", "compile_stream.jsonl"} {
			for _, one := range readLines(t, folder, name) {
				message := decode(t, one)
				if unknown(message.ProtoReflect()) {
					t.Errorf("%s, %s: a field is unknown", one.Type, one.Name)
				}
				if again := encode(t, message.ProtoReflect()); !bytes.Equal(again, one.bytes) {
					t.Errorf("%s, %s: written again as %x", one.Type, one.Name, again)
				}
			}
		}
	})
}

func TestARecordedSnapshotIsWholeAndHasTheStoredMessages(t *testing.T) {
	eachRelease(t, func(t *testing.T, folder string) {
		assembler := antiphon.NewSnapshotAssembler()
		for _, one := range readLines(t, folder, "snapshot.jsonl") {
			frame := decode(t, one)
			if unknown(frame.ProtoReflect()) {
				t.Errorf("%s: a field is unknown", one.Name)
			}
			if err := assembler.Add(frame.(*historyv1.ReadSnapshotResponse)); err != nil {
				t.Fatal(err)
			}
		}
		snapshot, err := assembler.Result()
		if err != nil {
			t.Fatal(err)
		}
		stored := readLines(t, folder, "stored.jsonl")
		if len(stored) != len(snapshot.Stored) {
			t.Fatalf("%d messages, not %d", len(snapshot.Stored), len(stored))
		}
		for index, one := range stored {
			if !bytes.Equal(one.bytes, snapshot.Stored[index]) {
				t.Errorf("%s: stored as %x", one.Name, snapshot.Stored[index])
			}
		}
		messages, err := snapshot.Messages()
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]bool{}
		for _, message := range messages {
			kinds[fmt.Sprintf("%T", message.GetContent())] = true
		}
		if len(kinds) < 7 {
			t.Errorf("only the kinds %v are stored", kinds)
		}
	})
}

func TestRecordedCompilationsHaveTheirDigests(t *testing.T) {
	eachRelease(t, func(t *testing.T, folder string) {
		for _, one := range readLines(t, folder, "compiled.jsonl") {
			if err := antiphon.VerifyDigests(decode(t, one).(*compilerv1.CompileResponse)); err != nil {
				t.Errorf("%s: %v", one.Name, err)
			}
		}
		assembler := new(antiphon.CompileAssembler)
		for _, one := range readLines(t, folder, "compile_stream.jsonl") {
			if err := assembler.Add(decode(t, one).(*compilerv1.StreamCompileResponse)); err != nil {
				t.Fatal(err)
			}
		}
		response, err := assembler.Result()
		if err != nil {
			t.Fatal(err)
		}
		if err := antiphon.VerifyDigests(response); err != nil {
			t.Error(err)
		}
		if response.ProviderRequestJson == nil {
			t.Error("the stream has no provider's request")
		}
	})
}
