package scenario

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"antiphon"
	compilerv1 "antiphon/compiler/v1"
	historyv1 "antiphon/history/v1"
	messagev1 "antiphon/message/v1"
)

// lastRevision is the last that a watch of the tests' service sends. A watch that
// begins before it then fails, any other lasts.
const lastRevision = 5

// service answers as far as a test of the runner needs: a branch with a header's
// text, a watch, and a compilation whose digest may be wrong.
type service struct {
	historyv1.UnimplementedHistoryServiceServer
	compilerv1.UnimplementedCompilerServiceServer
	digest string
}

func (s *service) GetBranch(
	ctx context.Context, request *historyv1.GetBranchRequest,
) (*historyv1.GetBranchResponse, error) {
	if len(request.ProtoReflect().GetUnknown()) > 0 {
		return nil, status.Error(codes.InvalidArgument, "a field that is not known")
	}
	header, _ := metadata.FromIncomingContext(ctx)
	return &historyv1.GetBranchResponse{Branch: &historyv1.Branch{
		BranchId: request.GetBranchId(), MetadataJson: strings.Join(header.Get("x-tenant"), ","), Revision: 9007199254740993,
	}}, nil
}

func (s *service) WatchBranch(
	request *historyv1.WatchBranchRequest, stream historyv1.HistoryService_WatchBranchServer,
) error {
	for revision := request.GetAfterRevision() + 1; revision <= lastRevision; revision++ {
		frame := &historyv1.WatchBranchResponse{Frame: &historyv1.WatchBranchResponse_Change{
			Change: &historyv1.BranchChange{Revision: revision},
		}}
		if err := stream.Send(frame); err != nil {
			return err
		}
	}
	if request.GetAfterRevision() < lastRevision {
		return status.Error(codes.OutOfRange, "no more")
	}
	<-stream.Context().Done()
	return status.FromContextError(stream.Context().Err()).Err()
}

func (s *service) Compile(
	context.Context, *compilerv1.CompileRequest,
) (*compilerv1.CompileResponse, error) {
	return &compilerv1.CompileResponse{
		Messages: []*compilerv1.CompiledMessage{{
			Role: messagev1.Role_ROLE_USER, Content: &compilerv1.CompiledMessage_Text{Text: "hello"},
		}},
		MessagesDigest: s.digest,
	}, nil
}

// rightDigest is that of the vectors' "One text."
const rightDigest = "c735185df68b88b77da72d87ed94077a1f13b6951cac9d66f5b1e8d15ac0ec38"

// runSteps runs one scenario of these steps on a service.
func runSteps(t *testing.T, digest, steps string) *Outcome {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	// What is not registered ends well and without a reply, as no service may.
	silent := grpc.UnknownServiceHandler(func(interface{}, grpc.ServerStream) error { return nil })
	server := grpc.NewServer(silent)
	historyv1.RegisterHistoryServiceServer(server, &service{})
	compilerv1.RegisterCompilerServiceServer(server, &service{digest: digest})
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	address := listener.Addr().String()
	pair, err := Connect(address, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pair.Close)

	scenarios := t.TempDir()
	write(t, filepath.Join(scenarios, "volatile.json"), `["incarnation"]`)
	write(t, filepath.Join(scenarios, "tried.json"), `{"name": "tried", "about": "", "topics": [], "steps": [`+steps+`]}`)
	suite, err := Load(scenarios)
	if err != nil {
		t.Fatal(err)
	}
	return suite.Run(suite.Scenarios[0], pair)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const (
	getBranch   = `"call": "antiphon.history.v1.HistoryService/GetBranch"`
	watchBranch = `"call": "antiphon.history.v1.HistoryService/WatchBranch"`
	compile     = `"call": "antiphon.compiler.v1.CompilerService/Compile", "request": {}`
)

func TestStepsThatPass(t *testing.T) {
	for name, steps := range map[string]string{
		"a request, a header, and what is saved": `
			{` + getBranch + `, "request": {"branchId": "${new:b}"}, "metadata": {"x-tenant": "t"},
			 "expect": {"reply": {"branch": {"branchId": "${b}", "metadataJson": "t", "revision": "9007199254740993"}}},
			 "save": {"kept": "/branch/revision"}},
			{` + getBranch + `, "request": {"branchId": "${kept}"},
			 "expect": {"reply": {"branch": {"branchId": "9007199254740993", "metadataJson": {"$absent": true}}}}}`,
		"bytes": `{` + getBranch + `, "request_hex": "0a0161", "expect": {"reply": {"branch": {"branchId": "a"}}}}`,
		"bytes with an unknown field": `
			{` + getBranch + `, "request_hex": "f83f01", "expect": {"error": {"code": "INVALID_ARGUMENT"}}}`,
		"some replies": `
			{` + watchBranch + `, "request": {}, "take": 2,
			 "expect": {"count": 2, "replies": [{"change": {"revision": "1"}}, {"change": {"revision": "2"}}]}}`,
		"a stream in pieces": `
			{"open": "w", ` + watchBranch + `, "request": {"afterRevision": "3"}},
			{"read": "w", "count": 1, "expect": {"replies": [{"change": {"revision": "4"}}]}},
			{"read": "w", "count": 1, "expect": {"replies": [{"change": {"revision": "5"}}]}},
			{"cancel": "w"}`,
		"a deadline": `
			{` + watchBranch + `, "request": {"afterRevision": "5"}, "timeout_ms": 100,
			 "expect": {"count": 0, "error": {"code": "DEADLINE_EXCEEDED", "reason": {"$absent": true}, "retry": false}}}`,
		"a method that is not served": `
			{"call": "antiphon.history.v1.HistoryService/AddMessages", "request": {},
			 "expect": {"error": {"code": "UNIMPLEMENTED"}}}`,
	} {
		if outcome := runSteps(t, "", steps); outcome.Fault != nil {
			t.Errorf("%s: %v", name, outcome.Fault)
		}
	}
}

func TestStepsThatFail(t *testing.T) {
	for steps, fault := range map[string]string{
		`{` + getBranch + `, "request": {}, "expect": {"reply": {"branch": {"revision": "1"}}}}`: "step 0, call " +
			`antiphon.history.v1.HistoryService/GetBranch: at /branch/revision: expected "1", got "9007199254740993"`,
		`{` + getBranch + `, "request": {}, "expect": {"error": {"code": "NOT_FOUND"}}}`: "1 replies and no error",
		`{` + getBranch + `, "request_hex": "f83f01"}`:                                   "expected no error",
		`{` + watchBranch + `, "request": {}, "take": 6, "expect": {"error": {}}}`:       "expected 6 replies, got 5, then the end",
		`{` + watchBranch + `, "request": {}, "take": 2, "expect": {"count": 3}}`:        "expected 3 replies, got 2",
		`{` + getBranch + `, "request": {}, "save": {"x": "/branch/none"}}`:              "nothing at /branch/none",
		`{` + getBranch + `, "request": {"nothing": 1}}`:                                 "no antiphon.history.v1.GetBranchRequest",
		`{` + getBranch + `, "request": {}, "expects": {}}`:                              "a step has no expects",
		`{"call": "antiphon.history.v1.HistoryService/Nothing", "request": {}}`:          "there is no method",
		`{"call": "antiphon.history.v1.ExchangeService/ListOwners", "request": {}}`:      "expected one reply, got 0",
		`{"read": "w"}`: "no stream w is open",
	} {
		outcome := runSteps(t, "", steps)
		if outcome.Fault == nil || !strings.Contains(outcome.Fault.Error(), fault) {
			t.Errorf("%s: %v", steps, outcome.Fault)
		}
	}
}

func TestDigestsAreCheckedAndCounted(t *testing.T) {
	if outcome := runSteps(t, rightDigest, `{`+compile+`}`); outcome.Fault != nil || outcome.Digests != 1 {
		t.Errorf("%+v", outcome)
	}
	outcome := runSteps(t, strings.Repeat("0", 64), `{`+compile+`}`)
	if outcome.Fault == nil || !strings.Contains(outcome.Fault.Error(), antiphon.ErrIncomplete.Error()) {
		t.Errorf("%+v", outcome)
	}
}

func TestTheTranscriptEndsWithTheStepThatFailed(t *testing.T) {
	outcome := runSteps(t, "", `
		{`+getBranch+`, "request": {"branchId": "a"}, "expect": {"reply": {"branch": {"branchId": "b"}}}},
		{`+getBranch+`, "request": {"branchId": "c"}}`)
	want := "0\t0\t/branch/branchId\ts\ta\n0\t0\t/branch/revision\ts\t9007199254740993\n"
	if outcome.Fault == nil || outcome.Transcript != want {
		t.Errorf("%q", outcome.Transcript)
	}
}

func TestScenariosAreChosenByName(t *testing.T) {
	suite, err := Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := suite.Choose([]string{"watch_resumed"}); err != nil || len(suite.Scenarios) != 1 {
		t.Errorf("%v, %v", suite.Scenarios, err)
	}
	if err := suite.Choose([]string{"nothing"}); err == nil {
		t.Error("a scenario that is not there was chosen")
	}
}
