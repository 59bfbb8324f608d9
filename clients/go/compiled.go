package antiphon

import (
	"context"
	"fmt"
	"io"
	"strings"

	"google.golang.org/grpc"

	compilerv1 "antiphon/compiler/v1"
	messagev1 "antiphon/message/v1"
)

// CompileStream compiles by StreamCompile, for results of any size, and returns
// the answer as Compile gives it. Errors: those of the call; ErrIncomplete, also
// where the messages are not those of the digest. Cost: the answer is kept whole
// and hashed once.
func CompileStream(
	ctx context.Context,
	client compilerv1.CompilerServiceClient,
	request *compilerv1.CompileRequest,
	options ...grpc.CallOption,
) (*compilerv1.CompileResponse, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := client.StreamCompile(ctx, &compilerv1.StreamCompileRequest{Request: request}, options...)
	if err != nil {
		return nil, err
	}
	assembler := new(CompileAssembler)
	for {
		frame, err := stream.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := assembler.Add(frame); err != nil {
			return nil, err
		}
	}
	response, err := assembler.Result()
	if err != nil {
		return nil, err
	}
	return response, VerifyDigests(response)
}

// VerifyDigests fails with ErrIncomplete unless a compilation's messages, and its
// provider's request where it has one, are those of its digests.
func VerifyDigests(response *compilerv1.CompileResponse) error {
	digest, err := MessagesDigest(response)
	if err != nil {
		return err
	}
	if digest != response.GetMessagesDigest() {
		return fmt.Errorf("%w: messages_digest is %s, that of the messages %s",
			ErrIncomplete, response.GetMessagesDigest(), digest)
	}
	if response.ProviderRequestJson == nil {
		return nil
	}
	if digest := RequestDigest(response.GetProviderRequestJson()); digest != response.GetRequestDigest() {
		return fmt.Errorf("%w: request_digest is %s, that of the request %s",
			ErrIncomplete, response.GetRequestDigest(), digest)
	}
	return nil
}

// CompileAssembler puts the frames of one StreamCompile stream together. Its
// zero value is ready: give every frame to Add, in order, and ask for Result
// when the stream has ended.
type CompileAssembler struct {
	response compilerv1.CompileResponse
	request  strings.Builder
	open     *openMessage
	last     *compilerv1.Result
}

// openMessage is a message whose chunks are arriving.
type openMessage struct {
	start *compilerv1.MessageStart
	text  strings.Builder
	parts [][]*compilerv1.PartChunk
}

// Add takes the next frame. It fails with ErrIncomplete where the frame has no
// place after those before it.
func (a *CompileAssembler) Add(response *compilerv1.StreamCompileResponse) error {
	if a.last != nil {
		return fmt.Errorf("%w: the compilation goes on after its last result", ErrIncomplete)
	}
	switch frame := response.GetFrame().(type) {
	case *compilerv1.StreamCompileResponse_MessageStart:
		return a.start(frame.MessageStart)
	case *compilerv1.StreamCompileResponse_Result:
		a.result(frame.Result)
		return nil
	case *compilerv1.StreamCompileResponse_RequestChunk:
		a.request.WriteString(frame.RequestChunk.GetText())
		return nil
	}
	if a.open == nil {
		return fmt.Errorf("%w: a frame outside of a message: %T", ErrIncomplete, response.GetFrame())
	}
	switch frame := response.GetFrame().(type) {
	case *compilerv1.StreamCompileResponse_TextChunk:
		a.open.text.WriteString(frame.TextChunk.GetText())
		return nil
	case *compilerv1.StreamCompileResponse_PartChunk:
		return a.open.add(frame.PartChunk)
	case *compilerv1.StreamCompileResponse_MessageEnd:
		return a.end(frame.MessageEnd)
	}
	return fmt.Errorf("%w: a frame of an unknown kind", ErrIncomplete)
}

func (a *CompileAssembler) start(start *compilerv1.MessageStart) error {
	if a.open != nil || start.GetIndex() != int64(len(a.response.Messages)) {
		return fmt.Errorf("%w: compiled message %d begins out of turn", ErrIncomplete, start.GetIndex())
	}
	a.open = &openMessage{start: start}
	return nil
}

func (a *CompileAssembler) end(end *compilerv1.MessageEnd) error {
	if end.GetIndex() != a.open.start.GetIndex() {
		return fmt.Errorf("%w: compiled message %d ends out of turn", ErrIncomplete, end.GetIndex())
	}
	message, err := a.open.message()
	if err != nil {
		return err
	}
	a.response.Messages = append(a.response.Messages, message)
	a.open = nil
	return nil
}

func (a *CompileAssembler) result(result *compilerv1.Result) {
	a.response.Report = append(a.response.Report, result.GetReport()...)
	if result.SystemText != nil {
		a.response.SystemText = result.SystemText
	}
	if result.GetLast() {
		a.last = result
	}
}

// Result returns the whole answer, whose digests are not checked yet. It fails
// with ErrIncomplete where the last result or a message is missing.
func (a *CompileAssembler) Result() (*compilerv1.CompileResponse, error) {
	last := a.last
	if last == nil || a.open != nil {
		return nil, fmt.Errorf("%w: the compilation ended before its last result", ErrIncomplete)
	}
	if arrived := int64(len(a.response.Messages)); arrived != last.GetMessageCount() {
		return nil, fmt.Errorf("%w: %d compiled messages arrived of %d", ErrIncomplete, arrived, last.GetMessageCount())
	}
	response := &a.response
	response.Instruction = last.GetInstruction()
	response.ProviderKwargsJson = last.GetProviderKwargsJson()
	response.HistoryRevision = last.GetHistoryRevision()
	response.Incarnation = last.GetIncarnation()
	response.MessagesDigest = last.GetMessagesDigest()
	response.RequestDigest = last.RequestDigest
	response.CapabilityVersion = last.CapabilityVersion
	response.Tokens = last.GetTokens()
	response.ActionNames = last.GetActionNames()
	if last.RequestDigest != nil {
		request := a.request.String()
		response.ProviderRequestJson = &request
	}
	return response, nil
}

// add keeps a chunk with those of its part.
func (m *openMessage) add(chunk *compilerv1.PartChunk) error {
	index, next := chunk.GetPartIndex(), int64(len(m.parts))
	switch {
	case index == next:
		m.parts = append(m.parts, []*compilerv1.PartChunk{chunk})
	case index >= 0 && index == next-1:
		m.parts[index] = append(m.parts[index], chunk)
	default:
		return fmt.Errorf("%w: part %d comes out of turn", ErrIncomplete, index)
	}
	return nil
}

func (m *openMessage) message() (*compilerv1.CompiledMessage, error) {
	message := &compilerv1.CompiledMessage{Role: m.start.GetRole()}
	if len(m.parts) == 0 {
		message.Content = &compilerv1.CompiledMessage_Text{Text: m.text.String()}
		return message, nil
	}
	parts := new(compilerv1.Parts)
	for index, chunks := range m.parts {
		part, err := joined(chunks)
		if err != nil {
			return nil, fmt.Errorf("%w: part %d: %v", ErrIncomplete, index, err)
		}
		parts.Parts = append(parts.Parts, part)
	}
	message.Content = &compilerv1.CompiledMessage_Parts{Parts: parts}
	return message, nil
}

// joined makes one part of its pieces, which are of one kind.
func joined(chunks []*compilerv1.PartChunk) (*compilerv1.Part, error) {
	if whole := chunks[0].GetWhole(); whole != nil && len(chunks) == 1 {
		return whole, nil
	}
	var text strings.Builder
	_, isText := chunks[0].GetPiece().(*compilerv1.PartChunk_Text)
	for _, chunk := range chunks {
		switch piece := chunk.GetPiece().(type) {
		case *compilerv1.PartChunk_Text:
			if !isText {
				return nil, fmt.Errorf("pieces of two kinds")
			}
			text.WriteString(piece.Text)
		case *compilerv1.PartChunk_ImageUrl:
			if isText {
				return nil, fmt.Errorf("pieces of two kinds")
			}
			text.WriteString(piece.ImageUrl.GetUrl())
		default:
			return nil, fmt.Errorf("a piece that cannot be joined: %T", piece)
		}
	}
	if isText {
		return &compilerv1.Part{Part: &compilerv1.Part_Text{Text: &messagev1.Text{Text: text.String()}}}, nil
	}
	return &compilerv1.Part{Part: &compilerv1.Part_ImageUrl{ImageUrl: &compilerv1.ImageUrl{
		Url: text.String(), Detail: chunks[0].GetImageUrl().GetDetail(),
	}}}, nil
}
