package scenario

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// longestShown is how many bytes of a value a message shows.
const longestShown = 200

// mismatch is an answer that is not the one expected.
type mismatch struct {
	pointer  string
	expected string
	actual   string
}

func (m *mismatch) Error() string {
	place := m.pointer
	if place == "" {
		place = "the top"
	}
	return fmt.Sprintf("at %s: expected %s, got %s", place, m.expected, m.actual)
}

// show returns a value as a message shows it.
func show(value any) string {
	if value == any(missing{}) {
		return "nothing"
	}
	text := jsonText(value)
	if len(text) <= longestShown {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(text[:longestShown], ""), len(text))
}

// matcher checks an answer against the contents of an object such as {"$starts": …}.
type matcher func(wanted, actual any, pointer string) error

var matchers map[string]matcher

// init, since the matchers match what they contain by this very table.
func init() {
	matchers = map[string]matcher{
		"$absent":   matchAbsent,
		"$any":      matchAny,
		"$exact":    matchExact,
		"$contains": matchContains,
		"$sha256":   matchSHA256,
		"$starts":   matchStarts,
		"$bytes":    matchBytes,
	}
}

// match checks an answer against an expectation whose variables are replaced. The
// error is a *mismatch where the answer is another, and of another type where the
// expectation itself is wrong.
func match(expected, actual any, pointer string) error {
	if name, contents, ok := makerOf(expected); ok {
		check, ok := matchers[name]
		if !ok {
			return fmt.Errorf("%s matches no value", name)
		}
		return check(contents, actual, pointer)
	}
	switch expected := expected.(type) {
	case object:
		return matchMembers(expected, actual, pointer)
	case list:
		return matchList(expected, actual, pointer)
	}
	switch actual.(type) {
	case object, list:
		return &mismatch{pointer, show(expected), show(actual)}
	}
	if expected != actual {
		return &mismatch{pointer, show(expected), show(actual)}
	}
	return nil
}

func matchMembers(expected object, actual any, pointer string) error {
	came, ok := actual.(object)
	if !ok {
		return &mismatch{pointer, show(expected), show(actual)}
	}
	for _, each := range expected {
		if err := match(each.value, came.get(each.name), memberPointer(pointer, each.name)); err != nil {
			return err
		}
	}
	return nil
}

func matchList(expected list, actual any, pointer string) error {
	came, ok := actual.(list)
	if !ok {
		return &mismatch{pointer, show(expected), show(actual)}
	}
	if len(expected) != len(came) {
		return &mismatch{pointer, fmt.Sprintf("%d members", len(expected)), fmt.Sprintf("%d: %s", len(came), show(came))}
	}
	for index, each := range expected {
		if err := match(each, came[index], indexPointer(pointer, index)); err != nil {
			return err
		}
	}
	return nil
}

func matchAbsent(wanted, actual any, pointer string) error {
	if wanted != true {
		return fmt.Errorf("$absent is true")
	}
	if _, ok := actual.(missing); !ok {
		return &mismatch{pointer, "nothing", show(actual)}
	}
	return nil
}

func matchAny(wanted, actual any, pointer string) error {
	if wanted != true {
		return fmt.Errorf("$any is true")
	}
	if _, ok := actual.(missing); ok {
		return &mismatch{pointer, "any value", "nothing"}
	}
	return nil
}

func matchExact(wanted, actual any, pointer string) error {
	expected, ok := wanted.(object)
	if !ok {
		return fmt.Errorf("$exact is of an object")
	}
	if err := matchMembers(expected, actual, pointer); err != nil {
		return err
	}
	var others []string
	for _, each := range actual.(object) {
		if !expected.has(each.name) {
			others = append(others, each.name)
		}
	}
	if len(others) > 0 {
		sort.Strings(others)
		return &mismatch{memberPointer(pointer, others[0]), "nothing", show(actual.(object).get(others[0]))}
	}
	return nil
}

func matchContains(wanted, actual any, pointer string) error {
	expected, ok := wanted.(list)
	if !ok {
		return fmt.Errorf("$contains is of a list")
	}
	came, ok := actual.(list)
	if !ok {
		return &mismatch{pointer, "a list with " + show(wanted), show(actual)}
	}
	for _, each := range expected {
		found, err := anyMatches(each, came, pointer)
		if err != nil {
			return err
		}
		if !found {
			return &mismatch{pointer, "a list with " + show(each), show(actual)}
		}
	}
	return nil
}

func anyMatches(expected any, came list, pointer string) (bool, error) {
	for _, each := range came {
		err := match(expected, each, pointer)
		if err == nil {
			return true, nil
		}
		if _, ok := err.(*mismatch); !ok {
			return false, err
		}
	}
	return false, nil
}

func matchSHA256(wanted, actual any, pointer string) error {
	expected := fmt.Sprintf("a text with the SHA-256 %v", wanted)
	text, ok := actual.(string)
	if !ok {
		return &mismatch{pointer, expected, show(actual)}
	}
	sum := sha256.Sum256([]byte(text))
	if digest := hex.EncodeToString(sum[:]); wanted != any(digest) {
		return &mismatch{pointer, expected, fmt.Sprintf("one with %s: %s", digest, show(actual))}
	}
	return nil
}

func matchStarts(wanted, actual any, pointer string) error {
	start, ok := wanted.(string)
	if !ok {
		return fmt.Errorf("$starts is of a text")
	}
	if text, ok := actual.(string); !ok || !strings.HasPrefix(text, start) {
		return &mismatch{pointer, "a text that begins with " + show(start), show(actual)}
	}
	return nil
}

func matchBytes(wanted, actual any, pointer string) error {
	expected := fmt.Sprintf("a text of %v bytes", wanted)
	text, ok := actual.(string)
	if !ok {
		return &mismatch{pointer, expected, show(actual)}
	}
	if size := json.Number(fmt.Sprint(len(text))); wanted != any(size) {
		return &mismatch{pointer, expected, fmt.Sprintf("one of %s: %s", size, show(actual))}
	}
	return nil
}
