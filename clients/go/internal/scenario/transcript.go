package scenario

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// The types of leaves.
const (
	emptyObject = "o"
	textLeaf    = "s"
	numberLeaf  = "n"
	booleanLeaf = "b"
)

// errorReply stands for a reply's number in the lines of an error.
const errorReply = "error"

var (
	uuid        = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	lineEscapes = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)
)

// transcript is what one scenario was answered, as lines that are equal in every
// language.
type transcript struct {
	volatile map[string]bool
	uuids    map[string]string
	lines    strings.Builder
}

// newTranscript begins one; volatile are the names of what a server makes anew
// each time.
func newTranscript(volatile map[string]bool) *transcript {
	return &transcript{volatile: volatile, uuids: map[string]string{}}
}

// leaf is a value that holds no other.
type leaf struct {
	pointer string
	// name is that of the member that the leaf is, or is listed in.
	name string
	kind string
	text string
}

// add writes the leaves of a reply, or of an error, of a step.
func (t *transcript) add(step int, reply string, value any) {
	leaves := appendLeaves(nil, value, "", "")
	sort.Slice(leaves, func(i, j int) bool { return leaves[i].pointer < leaves[j].pointer })
	for _, each := range leaves {
		text := "<" + each.name + ">"
		if each.kind == emptyObject || !t.volatile[each.name] {
			text = uuid.ReplaceAllStringFunc(each.text, t.numbered)
		}
		fmt.Fprintf(&t.lines, "%d\t%s\t%s\t%s\t%s\n", step, reply, each.pointer, each.kind, lineEscapes.Replace(text))
	}
}

// numbered returns what stands for a UUID.
func (t *transcript) numbered(id string) string {
	if _, ok := t.uuids[id]; !ok {
		t.uuids[id] = fmt.Sprintf("<uuid-%d>", len(t.uuids)+1)
	}
	return t.uuids[id]
}

// text returns all lines.
func (t *transcript) text() string {
	return t.lines.String()
}

// digest returns the SHA-256 of the lines in hexadecimal.
func (t *transcript) digest() string {
	sum := sha256.Sum256([]byte(t.text()))
	return hex.EncodeToString(sum[:])
}

// appendLeaves appends the leaves of a value; an empty list and null have none.
func appendLeaves(leaves []leaf, value any, pointer, name string) []leaf {
	switch value := value.(type) {
	case object:
		if len(value) == 0 {
			return append(leaves, leaf{pointer, name, emptyObject, ""})
		}
		for _, each := range value {
			leaves = appendLeaves(leaves, each.value, memberPointer(pointer, each.name), each.name)
		}
	case list:
		for index, each := range value {
			leaves = appendLeaves(leaves, each, indexPointer(pointer, index), name)
		}
	case string:
		return append(leaves, leaf{pointer, name, textLeaf, value})
	case json.Number:
		return append(leaves, leaf{pointer, name, numberLeaf, value.String()})
	case bool:
		return append(leaves, leaf{pointer, name, booleanLeaf, strconv.FormatBool(value)})
	}
	return leaves
}
