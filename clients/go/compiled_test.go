package antiphon_test

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"antiphon"
	compilerv1 "antiphon/compiler/v1"
	messagev1 "antiphon/message/v1"
)

type compileFrame = compilerv1.StreamCompileResponse

func start(index int64, role messagev1.Role) *compileFrame {
	return &compileFrame{Frame: &compilerv1.StreamCompileResponse_MessageStart{
		MessageStart: &compilerv1.MessageStart{Index: index, Role: role},
	}}
}

func text(piece string) *compileFrame {
	return &compileFrame{Frame: &compilerv1.StreamCompileResponse_TextChunk{TextChunk: &compilerv1.TextChunk{Text: piece}}}
}

func chunk(chunk *compilerv1.PartChunk) *compileFrame {
	return &compileFrame{Frame: &compilerv1.StreamCompileResponse_PartChunk{PartChunk: chunk}}
}

func textPiece(part int64, piece string) *compileFrame {
	return chunk(&compilerv1.PartChunk{PartIndex: part, Piece: &compilerv1.PartChunk_Text{Text: piece}})
}

func imagePiece(part int64, piece string) *compileFrame {
	return chunk(&compilerv1.PartChunk{PartIndex: part, Piece: &compilerv1.PartChunk_ImageUrl{
		ImageUrl: &compilerv1.ImageUrl{Url: piece, Detail: messagev1.ImageDetail_IMAGE_DETAIL_LOW},
	}})
}

func wholePiece(part int64, whole *compilerv1.Part) *compileFrame {
	return chunk(&compilerv1.PartChunk{PartIndex: part, Piece: &compilerv1.PartChunk_Whole{Whole: whole}})
}

func end(index int64) *compileFrame {
	return &compileFrame{Frame: &compilerv1.StreamCompileResponse_MessageEnd{
		MessageEnd: &compilerv1.MessageEnd{Index: index},
	}}
}

func requestPiece(piece string) *compileFrame {
	return &compileFrame{Frame: &compilerv1.StreamCompileResponse_RequestChunk{
		RequestChunk: &compilerv1.RequestChunk{Text: piece},
	}}
}

func result(result *compilerv1.Result) *compileFrame {
	return &compileFrame{Frame: &compilerv1.StreamCompileResponse_Result{Result: result}}
}

var call = &compilerv1.Part{Part: &compilerv1.Part_ToolCall{
	ToolCall: &compilerv1.CompiledCall{Id: "c", Name: "dig", ArgumentsText: proto.String("")},
}}

// expected is the answer that streamed sends in pieces.
func expected(t *testing.T) *compilerv1.CompileResponse {
	t.Helper()
	response := &compilerv1.CompileResponse{
		Instruction: &messagev1.Message{Id: "i"},
		Messages: []*compilerv1.CompiledMessage{
			{Role: messagev1.Role_ROLE_USER, Content: &compilerv1.CompiledMessage_Text{Text: "tulips"}},
			{Role: messagev1.Role_ROLE_USER, Content: &compilerv1.CompiledMessage_Text{}},
			{Role: messagev1.Role_ROLE_ASSISTANT, Content: &compilerv1.CompiledMessage_Parts{
				Parts: &compilerv1.Parts{Parts: []*compilerv1.Part{
					{Part: &compilerv1.Part_Text{Text: &messagev1.Text{Text: "ab"}}},
					{Part: &compilerv1.Part_ImageUrl{ImageUrl: &compilerv1.ImageUrl{
						Url: "http://x", Detail: messagev1.ImageDetail_IMAGE_DETAIL_LOW,
					}}},
					call,
				}},
			}},
		},
		ProviderKwargsJson:  "{}",
		HistoryRevision:     9007199254740993,
		Incarnation:         "n",
		Report:              []*compilerv1.CompileNote{{Reason: "one"}, {Reason: "two"}},
		ProviderRequestJson: proto.String(`{"a":1}`),
		RequestDigest:       proto.String(antiphon.RequestDigest(`{"a":1}`)),
		CapabilityVersion:   proto.String("v"),
		SystemText:          proto.String(""),
		Tokens:              &compilerv1.TokenCount{Total: 3},
		ActionNames:         []*compilerv1.ActionName{{}},
	}
	digest, err := antiphon.MessagesDigest(response)
	if err != nil {
		t.Fatal(err)
	}
	response.MessagesDigest = digest
	return response
}

func streamed(response *compilerv1.CompileResponse) []*compileFrame {
	return []*compileFrame{
		start(0, messagev1.Role_ROLE_USER), text("tul"), text("ips"), end(0),
		start(1, messagev1.Role_ROLE_USER), end(1),
		start(2, messagev1.Role_ROLE_ASSISTANT), textPiece(0, "a"), textPiece(0, "b"),
		imagePiece(1, "http:"), imagePiece(1, "//x"), wholePiece(2, call), end(2),
		requestPiece(`{"a"`), requestPiece(`:1}`),
		result(&compilerv1.Result{Report: response.Report[:1], SystemText: response.SystemText}),
		result(&compilerv1.Result{
			Instruction: response.Instruction, ProviderKwargsJson: response.ProviderKwargsJson,
			HistoryRevision: response.HistoryRevision, Incarnation: response.Incarnation,
			MessagesDigest: response.MessagesDigest, Report: response.Report[1:], MessageCount: 3, Last: true,
			RequestDigest: response.RequestDigest, CapabilityVersion: response.CapabilityVersion,
			Tokens: response.Tokens, ActionNames: response.ActionNames,
		}),
	}
}

// streaming streams frames as a compilation.
type streaming struct {
	compilerv1.UnimplementedCompilerServiceServer
	frames []*compileFrame
}

func (s *streaming) StreamCompile(
	_ *compilerv1.StreamCompileRequest, stream compilerv1.CompilerService_StreamCompileServer,
) error {
	for _, frame := range s.frames {
		if err := stream.Send(frame); err != nil {
			return err
		}
	}
	return nil
}

// compileStream compiles by frames that travelled.
func compileStream(t *testing.T, frames []*compileFrame) (*compilerv1.CompileResponse, error) {
	t.Helper()
	connection := connect(t, func(server *grpc.Server) {
		compilerv1.RegisterCompilerServiceServer(server, &streaming{frames: frames})
	})
	return antiphon.CompileStream(
		context.Background(), compilerv1.NewCompilerServiceClient(connection), &compilerv1.CompileRequest{})
}

func TestAStreamIsTheAnswerInPieces(t *testing.T) {
	want := expected(t)
	got, err := compileStream(t, streamed(want))
	if err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(got, want) {
		t.Errorf("%v is not %v", got, want)
	}
}

func TestWhatIsNoWholeCompilation(t *testing.T) {
	type change = func([]*compileFrame) []*compileFrame
	for name, change := range map[string]change{
		"nothing":            func([]*compileFrame) []*compileFrame { return nil },
		"no last result":     func(all []*compileFrame) []*compileFrame { return all[:16] },
		"more after it":      func(all []*compileFrame) []*compileFrame { return append(all, all[16]) },
		"a message less":     func(all []*compileFrame) []*compileFrame { return append(all[:6:6], all[13:]...) },
		"a text less":        func(all []*compileFrame) []*compileFrame { return append(all[:1:1], all[2:]...) },
		"a message unclosed": func(all []*compileFrame) []*compileFrame { return append(all[:12:12], all[13:]...) },
		"a message in another": func(all []*compileFrame) []*compileFrame {
			return append(all[:2:2], all[4:]...)
		},
		"a wrong index":          func(all []*compileFrame) []*compileFrame { all[0].GetMessageStart().Index = 1; return all },
		"a wrong end":            func(all []*compileFrame) []*compileFrame { all[3].GetMessageEnd().Index = 1; return all },
		"a text outside":         func(all []*compileFrame) []*compileFrame { return append([]*compileFrame{text("x")}, all...) },
		"a frame of no kind":     func(all []*compileFrame) []*compileFrame { all[1].Frame = nil; return all },
		"a part too early":       func(all []*compileFrame) []*compileFrame { all[7].GetPartChunk().PartIndex = 1; return all },
		"a negative part":        func(all []*compileFrame) []*compileFrame { all[7].GetPartChunk().PartIndex = -1; return all },
		"a part of two kinds":    func(all []*compileFrame) []*compileFrame { all[9].GetPartChunk().PartIndex = 0; return all },
		"a whole part continued": func(all []*compileFrame) []*compileFrame { all[11].GetPartChunk().PartIndex = 1; return all },
		"a request cut":          func(all []*compileFrame) []*compileFrame { return append(all[:14:14], all[15:]...) },
	} {
		if _, err := compileStream(t, change(streamed(expected(t)))); !errors.Is(err, antiphon.ErrIncomplete) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
