// Command example is a conversation that two programs share: append, watch,
// compile, meet another writer, watch on.
//
//	example --history 127.0.0.1:7411 --compiler 127.0.0.1:7412
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"antiphon"
	compilerv1 "antiphon/compiler/v1"
	historyv1 "antiphon/history/v1"
	messagev1 "antiphon/message/v1"
)

func main() {
	log.SetFlags(0)
	history := flag.String("history", "127.0.0.1:7411", "address of the history service, HOST:PORT or unix:PATH")
	compiler := flag.String("compiler", "127.0.0.1:7412", "address of the compiler service")
	flag.Parse()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, *history, *compiler, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, historyAddress, compilerAddress string, output io.Writer) error {
	historyConn, err := grpc.Dial(historyAddress, grpc.WithInsecure())
	if err != nil {
		return err
	}
	defer historyConn.Close()
	compilerConn, err := grpc.Dial(compilerAddress, grpc.WithInsecure())
	if err != nil {
		return err
	}
	defer compilerConn.Close()
	story := &conversation{
		history:  historyv1.NewHistoryServiceClient(historyConn),
		compiler: compilerv1.NewCompilerServiceClient(compilerConn),
		output:   output,
	}
	return story.tell(ctx)
}

// conversation is one branch and what this program does with it.
type conversation struct {
	history  historyv1.HistoryServiceClient
	compiler compilerv1.CompilerServiceClient
	output   io.Writer
	branchID string
}

func (c *conversation) tell(ctx context.Context) error {
	created, err := c.history.CreateBranch(ctx, &historyv1.CreateBranchRequest{RequestId: antiphon.NewRequestID()})
	if err != nil {
		return err
	}
	c.branchID = created.GetBranch().GetBranchId()
	fmt.Fprintf(c.output, "created a branch at revision %d\n", created.GetBranch().GetRevision())

	written, err := c.add(ctx, nil,
		&messagev1.Message{Content: &messagev1.Message_System{
			System: &messagev1.SystemContent{SystemMessage: "You are a gardener."},
		}},
		instruction("When do I plant tulips?"),
		&messagev1.Message{Content: &messagev1.Message_AssistantResponse{
			AssistantResponse: &messagev1.AssistantResponseContent{
				AssistantResponse: "In autumn, before the first frost.",
			},
		}},
	)
	if err != nil {
		return err
	}

	seen, err := c.watchUntil(ctx, antiphon.Position{}, written.GetRevision())
	if err != nil {
		return err
	}
	fmt.Fprintf(c.output, "watch: %s\n", describe(seen))

	question, err := c.compile(ctx, instruction("And how deep?"))
	if err != nil {
		return err
	}

	if written, err = c.addAfterConflict(ctx, created.GetBranch().GetRevision(), question); err != nil {
		return err
	}

	// A watch that was cut goes on after the last revision seen.
	position := antiphon.Position{Revision: seen.GetRevision(), Incarnation: seen.GetIncarnation()}
	next, err := c.watchUntil(ctx, position, written.GetRevision())
	if err != nil {
		return err
	}
	fmt.Fprintf(c.output, "watch, resumed after revision %d: %s\n", position.Revision, describe(next))
	return nil
}

// add appends messages, where expectedRevision is not nil only if the branch is
// at that revision.
func (c *conversation) add(
	ctx context.Context, expectedRevision *int64, messages ...*messagev1.Message,
) (*historyv1.AddMessagesResponse, error) {
	written, err := c.history.AddMessages(ctx, &historyv1.AddMessagesRequest{
		BranchId:         c.branchID,
		Messages:         messages,
		ExpectedRevision: expectedRevision,
		RequestId:        antiphon.NewRequestID(),
	})
	if err == nil {
		fmt.Fprintf(c.output, "appended %s: revision %d\n", count(len(messages)), written.GetRevision())
	}
	return written, err
}

// addAfterConflict appends a message with a revision that is out of date, reads
// from the refusal what happened, and appends it with the right one.
func (c *conversation) addAfterConflict(
	ctx context.Context, staleRevision int64, message *messagev1.Message,
) (*historyv1.AddMessagesResponse, error) {
	written, err := c.add(ctx, &staleRevision, message)
	refusal, ok := antiphon.FromError(err)
	if !ok || refusal.RevisionConflict == nil {
		return written, err
	}
	fmt.Fprintf(c.output, "refused: %s, expected %d, actual %d\n", refusal.Reason,
		refusal.RevisionConflict.GetExpectedRevision(), refusal.RevisionConflict.GetActualRevision())

	current, err := c.history.GetBranch(ctx, &historyv1.GetBranchRequest{BranchId: c.branchID})
	if err != nil {
		return nil, err
	}
	return c.add(ctx, proto.Int64(current.GetBranch().GetRevision()), message)
}

// watchUntil watches the branch after a position, up to a revision's change, and
// cuts the watch there.
func (c *conversation) watchUntil(
	ctx context.Context, after antiphon.Position, revision int64,
) (*historyv1.BranchChange, error) {
	watch := antiphon.WatchBranch(ctx, c.history, c.branchID, after)
	defer watch.Close()
	for {
		change, err := watch.Next()
		if err != nil || change.GetRevision() == revision {
			return change, err
		}
	}
}

// compile compiles the branch with an instruction, for a provider, and returns
// the instruction as it may be appended.
func (c *conversation) compile(ctx context.Context, instruction *messagev1.Message) (*messagev1.Message, error) {
	compiled, err := c.compiler.Compile(ctx, &compilerv1.CompileRequest{
		Source:      &compilerv1.CompileRequest_Branch{Branch: &compilerv1.BranchRef{BranchId: c.branchID}},
		Profile:     compilerv1.Profile_PROFILE_NATIVE,
		Instruction: instruction,
		Target:      proto.String("openai.chat"),
	})
	if err != nil {
		return nil, err
	}
	if err := antiphon.VerifyDigests(compiled); err != nil {
		return nil, err
	}
	fmt.Fprintf(c.output, "compiled %s, digest %s\n", count(len(compiled.GetMessages())), compiled.GetMessagesDigest())
	return compiled.GetInstruction(), nil
}

func instruction(text string) *messagev1.Message {
	return &messagev1.Message{Content: &messagev1.Message_Instruction{
		Instruction: &messagev1.InstructionContent{Instruction: proto.String(text)},
	}}
}

// describe tells what a change brought.
func describe(change *historyv1.BranchChange) string {
	added := 0
	for _, operation := range change.GetOperations() {
		if operation.GetAdded() != nil {
			added++
		}
	}
	return fmt.Sprintf("revision %d added %s", change.GetRevision(), count(added))
}

// count returns a number of messages with its noun.
func count(number int) string {
	if number == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", number)
}
