package scenario

import (
	"fmt"
	"strconv"

	"google.golang.org/protobuf/proto"
)

// all is the count of replies that reads to the end of a call.
const all = -1

// kinds are the kinds of steps, but for calls, which may hold any of their keys.
var kinds = []string{"open", "read", "cancel"}

// stepKeys are what a step of each kind may say.
var stepKeys = map[string][]string{
	"call":   {"call", "request", "requests", "request_hex", "metadata", "timeout_ms", "take", "expect", "save"},
	"open":   {"open", "call", "request", "request_hex", "metadata", "timeout_ms"},
	"read":   {"read", "count", "expect", "save"},
	"cancel": {"cancel"},
}

// Outcome is how a scenario went.
type Outcome struct {
	// Digests is how many digests were checked.
	Digests int
	// Transcript is what was answered, as lines.
	Transcript string
	// TranscriptDigest is the SHA-256 of those lines in hexadecimal.
	TranscriptDigest string
	// Fault says what went wrong. Nil: nothing.
	Fault error
}

// Run runs one of the suite's scenarios on a pair.
func (s *Suite) Run(scenario *Scenario, pair *Pair) *Outcome {
	running := &run{
		pair:       pair,
		values:     variables{},
		streams:    map[string]*replyStream{},
		transcript: newTranscript(s.volatile),
	}
	defer running.close()
	var fault error
	for number, step := range scenario.steps {
		if err := running.step(number, step); err != nil {
			fault = fmt.Errorf("step %d, %s: %w", number, title(step), err)
			break
		}
	}
	return &Outcome{running.digests, running.transcript.text(), running.transcript.digest(), fault}
}

func kindOf(step object) string {
	for _, kind := range kinds {
		if step.has(kind) {
			return kind
		}
	}
	return "call"
}

func title(step object) string {
	kind := kindOf(step)
	return fmt.Sprintf("%s %v", kind, step.get(kind))
}

// run is a scenario while it runs.
type run struct {
	pair       *Pair
	values     variables
	streams    map[string]*replyStream
	transcript *transcript
	digests    int
}

// close ends the streams that are open still.
func (r *run) close() {
	for _, stream := range r.streams {
		stream.close()
	}
}

func (r *run) step(number int, step object) error {
	kind := kindOf(step)
	if err := step.only("a step", stepKeys[kind]...); err != nil {
		return err
	}
	if kind == "call" {
		return r.call(number, step)
	}
	name, ok := step.get(kind).(string)
	if !ok {
		return fmt.Errorf("a stream has a name")
	}
	if kind == "open" {
		return r.open(name, step)
	}
	stream, ok := r.streams[name]
	if !ok {
		return fmt.Errorf("no stream %s is open", name)
	}
	if kind == "cancel" {
		stream.close()
		return nil
	}
	_, err := r.answers(number, step, stream, "count")
	return err
}

func (r *run) call(number int, step object) error {
	call, err := newCall(step, r.values)
	if err != nil {
		return err
	}
	stream, err := r.pair.start(call)
	defer stream.close()
	if err != nil {
		return err
	}
	replies, err := r.answers(number, step, stream, "take")
	if err != nil || !stream.ended || stream.err != nil {
		return err
	}
	if !call.method.IsStreamingServer() && len(replies) != 1 {
		return &mismatch{"", "one reply", strconv.Itoa(len(replies))}
	}
	digests, err := checkDigests(call, replies)
	r.digests += digests
	return err
}

func (r *run) open(name string, step object) error {
	call, err := newCall(step, r.values)
	if err != nil {
		return err
	}
	r.streams[name], err = r.pair.start(call)
	return err
}

// answers reads answers, as many as the step's member of this name says, writes
// them down, and checks and keeps what the step says.
func (r *run) answers(number int, step object, stream *replyStream, limit string) ([]proto.Message, error) {
	count := int64(all)
	if given := step.get(limit); given != any(missing{}) {
		var err error
		if count, err = wholeNumber(given); err != nil {
			return nil, err
		}
	}
	replies, err := stream.read(int(count))
	if err != nil {
		return nil, err
	}
	told, err := r.write(number, replies)
	if err != nil {
		return nil, err
	}
	short := count == all || len(replies) < int(count)
	var failure *callError
	if stream.err != nil && short {
		if failure, err = newCallError(stream.err); err != nil {
			return nil, err
		}
		r.transcript.add(number, errorReply, failure.leaves)
	}
	if err := r.check(step, told, failure, stream.method.IsStreamingServer()); err != nil {
		return nil, err
	}
	if count != all && short {
		return nil, &mismatch{"", fmt.Sprintf("%d replies", count), fmt.Sprintf("%d, then the end", len(replies))}
	}
	return replies, r.save(step, told, stream.method.IsStreamingServer())
}

// write adds replies to the transcript and returns them in proto3 JSON.
func (r *run) write(number int, replies []proto.Message) (list, error) {
	told := list{}
	for index, reply := range replies {
		value, err := toValue(reply)
		if err != nil {
			return nil, err
		}
		r.transcript.add(number, strconv.Itoa(index), value)
		told = append(told, value)
	}
	return told, nil
}

// check matches what was told with what the step expects.
func (r *run) check(step object, told list, failure *callError, streams bool) error {
	var expect object
	if given, ok := step.get("expect").(object); ok {
		made, err := r.values.expectation(given)
		if err != nil {
			return err
		}
		if expect, ok = made.(object); !ok {
			return fmt.Errorf("an expectation is no text: %s", show(made))
		}
	}
	if err := expect.only("an expectation", "reply", "replies", "count", "error"); err != nil {
		return err
	}
	if failure != nil && !expect.has("error") {
		return &mismatch{"", "no error", show(failure.leaves)}
	}
	for _, each := range expect {
		if err := checkPart(each, told, failure, streams); err != nil {
			return err
		}
	}
	return nil
}

func checkPart(expected member, told list, failure *callError, streams bool) error {
	switch expected.name {
	case "reply":
		var reply any = missing{}
		if len(told) > 0 && !streams {
			reply = told[0]
		}
		return match(expected.value, reply, "")
	case "replies":
		return match(expected.value, told, "")
	case "count":
		count, err := wholeNumber(expected.value)
		if err == nil && count != int64(len(told)) {
			return &mismatch{"", fmt.Sprintf("%d replies", count), strconv.Itoa(len(told))}
		}
		return err
	}
	return failure.check(expected.value, len(told))
}

// save keeps what the step's member of that name asks for.
func (r *run) save(step object, told list, streams bool) error {
	wanted, _ := step.get("save").(object)
	for _, each := range wanted {
		var from any = told
		if !streams && len(told) > 0 {
			from = told[0]
		}
		pointer, ok := each.value.(string)
		if !ok {
			return fmt.Errorf("a pointer is a text, not %s", show(each.value))
		}
		value, err := resolve(from, pointer)
		if err != nil {
			return err
		}
		if err := r.values.keep(each.name, value); err != nil {
			return err
		}
	}
	return nil
}
