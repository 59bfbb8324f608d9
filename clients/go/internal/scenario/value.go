package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A value of a scenario is nil, a bool, a json.Number, a string, a list or an object.
type (
	// list is a JSON array.
	list = []any
	// object is a JSON object whose members stand as in the file: the text that
	// "$json" makes depends on their order.
	object []member
	member struct {
		name  string
		value any
	}
)

// missing stands for a member that is not there.
type missing struct{}

// get returns a member's value, or missing.
func (o object) get(name string) any {
	for _, each := range o {
		if each.name == name {
			return each.value
		}
	}
	return missing{}
}

// has says whether there is such a member.
func (o object) has(name string) bool {
	return o.get(name) != any(missing{})
}

// only fails if there is a member of another name than those known.
func (o object) only(what string, known ...string) error {
	for _, each := range o {
		if !contains(known, each.name) {
			return fmt.Errorf("%s has no %s", what, each.name)
		}
	}
	return nil
}

func contains(names []string, name string) bool {
	for _, each := range names {
		if each == name {
			return true
		}
	}
	return false
}

// parse reads one JSON text. Numbers keep their spelling. A member that stands
// twice in one object is an error.
func parse(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	value, err := parseValue(decoder)
	if err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one JSON value")
	}
	return value, nil
}

func parseValue(decoder *json.Decoder) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		return parseList(decoder)
	case json.Delim('{'):
		return parseObject(decoder)
	}
	return token, nil
}

func parseList(decoder *json.Decoder) (any, error) {
	values := list{}
	for decoder.More() {
		value, err := parseValue(decoder)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	_, err := decoder.Token()
	return values, err
}

func parseObject(decoder *json.Decoder) (any, error) {
	members := object{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		if members.has(name.(string)) {
			return nil, fmt.Errorf("the member %s stands twice in one object", name)
		}
		value, err := parseValue(decoder)
		if err != nil {
			return nil, err
		}
		members = append(members, member{name.(string), value})
	}
	_, err := decoder.Token()
	return members, err
}

// jsonText returns a value's text as "$json" writes it: compact, members in
// order, nothing but quotes, backslashes and control characters escaped.
func jsonText(value any) string {
	var text strings.Builder
	writeJSON(&text, value)
	return text.String()
}

func writeJSON(text *strings.Builder, value any) {
	switch value := value.(type) {
	case nil:
		text.WriteString("null")
	case bool:
		text.WriteString(strconv.FormatBool(value))
	case json.Number:
		text.WriteString(value.String())
	case string:
		writeString(text, value)
	case list:
		text.WriteByte('[')
		for index, each := range value {
			if index > 0 {
				text.WriteByte(',')
			}
			writeJSON(text, each)
		}
		text.WriteByte(']')
	case object:
		text.WriteByte('{')
		for index, each := range value {
			if index > 0 {
				text.WriteByte(',')
			}
			writeString(text, each.name)
			text.WriteByte(':')
			writeJSON(text, each.value)
		}
		text.WriteByte('}')
	default:
		panic(fmt.Sprintf("no JSON value: %T", value))
	}
}

var escapes = map[byte]string{
	'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`,
}

func writeString(text *strings.Builder, value string) {
	text.WriteByte('"')
	for index := 0; index < len(value); index++ {
		// Bytes of a character beyond ASCII are all above 0x7f and stand as they are.
		if escape, ok := escapes[value[index]]; ok {
			text.WriteString(escape)
		} else if value[index] < 0x20 {
			fmt.Fprintf(text, `\u%04x`, value[index])
		} else {
			text.WriteByte(value[index])
		}
	}
	text.WriteByte('"')
}
