package scenario

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"antiphon"
)

const (
	compilerPackage = "antiphon.compiler."
	defaultTimeout  = 60 * time.Second
)

// Pair is connections to a running pair of services.
type Pair struct {
	history  *grpc.ClientConn
	compiler *grpc.ClientConn
}

// Connect connects to two addresses, each HOST:PORT or unix:PATH. Whether
// somebody listens there shows at the first call.
func Connect(history, compiler string) (*Pair, error) {
	historyConn, err := grpc.Dial(history, grpc.WithInsecure())
	if err != nil {
		return nil, err
	}
	compilerConn, err := grpc.Dial(compiler, grpc.WithInsecure())
	if err != nil {
		historyConn.Close()
		return nil, err
	}
	return &Pair{historyConn, compilerConn}, nil
}

// Close closes the connections.
func (p *Pair) Close() {
	p.history.Close()
	p.compiler.Close()
}

// call is one call as a step says it, its values made.
type call struct {
	method protoreflect.MethodDescriptor
	// requests are encoded: one, or for a client stream any number.
	requests [][]byte
	metadata metadata.MD
	timeout  time.Duration
}

// newCall reads a step's call.
func newCall(step object, values variables) (*call, error) {
	method, err := methodNamed(step.get("call"))
	if err != nil {
		return nil, err
	}
	made := &call{method: method, metadata: metadata.MD{}, timeout: defaultTimeout}
	if made.requests, err = encodedRequests(step, method, values); err != nil {
		return nil, err
	}
	if given, ok := step.get("metadata").(object); ok {
		for _, each := range given {
			template, ok := each.value.(string)
			if !ok {
				return nil, fmt.Errorf("the header %s is no text", each.name)
			}
			text, err := values.text(template)
			if err != nil {
				return nil, err
			}
			made.metadata.Append(each.name, text)
		}
	}
	if given := step.get("timeout_ms"); given != any(missing{}) {
		milliseconds, err := wholeNumber(given)
		if err != nil {
			return nil, err
		}
		made.timeout = time.Duration(milliseconds) * time.Millisecond
	}
	return made, nil
}

// methodNamed returns the method that "package.Service/Method" names.
func methodNamed(name any) (protoreflect.MethodDescriptor, error) {
	text, _ := name.(string)
	parts := strings.SplitN(text, "/", 2)
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(parts[0]))
	service, ok := found.(protoreflect.ServiceDescriptor)
	if err != nil || !ok || len(parts) != 2 {
		return nil, fmt.Errorf("there is no method %s", show(name))
	}
	method := service.Methods().ByName(protoreflect.Name(parts[1]))
	if method == nil {
		return nil, fmt.Errorf("there is no method %s", show(name))
	}
	return method, nil
}

func encodedRequests(step object, method protoreflect.MethodDescriptor, values variables) ([][]byte, error) {
	if template, ok := step.get("request_hex").(string); ok {
		text, err := values.text(template)
		if err != nil {
			return nil, err
		}
		encoded, err := hex.DecodeString(text)
		return [][]byte{encoded}, err
	}
	requests := list{step.get("request")}
	if method.IsStreamingClient() {
		requests, _ = step.get("requests").(list)
	}
	encoded := make([][]byte, len(requests))
	for index, request := range requests {
		made, err := values.request(request)
		if err != nil {
			return nil, err
		}
		if encoded[index], err = encode(method.Input(), made); err != nil {
			return nil, err
		}
	}
	return encoded, nil
}

// encode returns the bytes of a message that is given in proto3 JSON.
func encode(descriptor protoreflect.MessageDescriptor, value any) ([]byte, error) {
	if _, ok := value.(object); !ok {
		return nil, fmt.Errorf("%s is no %s", show(value), descriptor.FullName())
	}
	message, err := newMessage(descriptor)
	if err != nil {
		return nil, err
	}
	if err := protojson.Unmarshal([]byte(jsonText(value)), message); err != nil {
		return nil, fmt.Errorf("no %s: %w", descriptor.FullName(), err)
	}
	// The services compare a repeated write with the first by its bytes.
	return proto.MarshalOptions{Deterministic: true}.Marshal(message)
}

// newMessage returns an empty message of the generated type.
func newMessage(descriptor protoreflect.MessageDescriptor) (proto.Message, error) {
	found, err := protoregistry.GlobalTypes.FindMessageByName(descriptor.FullName())
	if err != nil {
		return nil, err
	}
	return found.New().Interface(), nil
}

// toValue returns a message in proto3 JSON. The text that protojson gives is
// spaced at random, so it is parsed and never compared.
func toValue(message proto.Message) (any, error) {
	text, err := protojson.Marshal(message)
	if err != nil {
		return nil, err
	}
	return parse(text)
}

func wholeNumber(value any) (int64, error) {
	if number, ok := value.(json.Number); ok {
		return number.Int64()
	}
	return 0, fmt.Errorf("%s is no number", show(value))
}

// replyStream is the replies of a call, one for a unary method, read as they are
// wanted.
type replyStream struct {
	method protoreflect.MethodDescriptor
	stream grpc.ClientStream
	cancel context.CancelFunc
	// err is how the call failed, as far as is known.
	err *antiphon.Error
	// ended says whether the end was read.
	ended bool
}

// start sends a call. Every method is called as a stream of both sides: on the
// wire there is no difference.
func (p *Pair) start(call *call) (*replyStream, error) {
	ctx, cancel := context.WithTimeout(context.Background(), call.timeout)
	replies := &replyStream{method: call.method, cancel: cancel}
	connection := p.history
	service := call.method.Parent().FullName()
	if strings.HasPrefix(string(service), compilerPackage) {
		connection = p.compiler
	}
	stream, err := connection.NewStream(
		metadata.NewOutgoingContext(ctx, call.metadata),
		&grpc.StreamDesc{ServerStreams: true, ClientStreams: true},
		fmt.Sprintf("/%s/%s", service, call.method.Name()),
		grpc.ForceCodec(encodedCodec{}),
	)
	if err != nil {
		return replies, replies.fail(err)
	}
	replies.stream = stream
	for _, request := range call.requests {
		if stream.SendMsg(request) != nil {
			// The call is over already; its error comes with the first reply.
			return replies, nil
		}
	}
	return replies, stream.CloseSend()
}

// read returns so many more replies, fewer where the call ends before; with a
// negative count, all.
func (s *replyStream) read(count int) ([]proto.Message, error) {
	var replies []proto.Message
	for !s.ended && (count < 0 || len(replies) < count) {
		var encoded []byte
		err := s.stream.RecvMsg(&encoded)
		if err == io.EOF {
			s.ended = true
			break
		}
		if err != nil {
			if err := s.fail(err); err != nil {
				return replies, err
			}
			break
		}
		reply, err := newMessage(s.method.Output())
		if err != nil {
			return replies, err
		}
		if err := proto.Unmarshal(encoded, reply); err != nil {
			return replies, fmt.Errorf("the reply is no %s: %w", s.method.Output().FullName(), err)
		}
		replies = append(replies, reply)
	}
	return replies, nil
}

// fail keeps the error of a call; it returns an error that is none.
func (s *replyStream) fail(err error) error {
	answer, ok := antiphon.FromError(err)
	if !ok {
		return err
	}
	s.ended, s.err = true, answer
	return nil
}

// close ends the call from this side, if it has not ended.
func (s *replyStream) close() {
	s.cancel()
	s.ended = true
}

// encodedCodec sends and receives messages that are encoded already.
type encodedCodec struct{}

// Name is that of the codec whose bytes these are.
func (encodedCodec) Name() string { return "proto" }

// Marshal returns the encoded message that it is given.
func (encodedCodec) Marshal(value interface{}) ([]byte, error) {
	return value.([]byte), nil
}

// Unmarshal keeps the bytes as received.
func (encodedCodec) Unmarshal(data []byte, value interface{}) error {
	*value.(*[]byte) = data
	return nil
}
