package scenario

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const folder = "../../../../tests/contract/scenarios"

// vectors returns the members of a file of vectors.
func vectors(t *testing.T, name string) []object {
	t.Helper()
	value, err := parseFile(filepath.Join(folder, "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	var members []object
	for _, each := range value.(list) {
		members = append(members, each.(object))
	}
	if len(members) == 0 {
		t.Fatalf("%s has no vectors", name)
	}
	return members
}

func TestValues(t *testing.T) {
	for _, vector := range vectors(t, "values.json") {
		values := variables{}
		for _, each := range vector.get("variables").(object) {
			values[each.name] = each.value.(string)
		}
		made, err := values.expand(vector.get("value"), vector.get("expected") == any(true))
		switch {
		case vector.get("fails") == any(true):
			if err == nil {
				t.Errorf("%s: %s", vector.get("about"), show(made))
			}
		case err != nil:
			t.Errorf("%s: %v", vector.get("about"), err)
		case jsonText(made) != jsonText(vector.get("made")):
			t.Errorf("%s: %s", vector.get("about"), jsonText(made))
		}
	}
}

func TestMatching(t *testing.T) {
	for _, vector := range vectors(t, "matching.json") {
		err := match(vector.get("expected"), vector.get("actual"), "")
		if vector.get("matches") == any(true) {
			if err != nil {
				t.Errorf("%s: %v", vector.get("about"), err)
			}
			continue
		}
		differs, ok := err.(*mismatch)
		if !ok || any(differs.pointer) != vector.get("pointer") {
			t.Errorf("%s: %v", vector.get("about"), err)
		}
	}
}

func TestTranscripts(t *testing.T) {
	for _, vector := range vectors(t, "transcripts.json") {
		volatile := map[string]bool{}
		for _, name := range vector.get("volatile").(list) {
			volatile[name.(string)] = true
		}
		written := newTranscript(volatile)
		for _, each := range vector.get("answers").(list) {
			answer := each.(object)
			step, err := wholeNumber(answer.get("step"))
			if err != nil {
				t.Fatal(err)
			}
			reply, isError := answer.get("reply").(string)
			if !isError {
				number, err := wholeNumber(answer.get("reply"))
				if err != nil {
					t.Fatal(err)
				}
				reply = strconv.FormatInt(number, 10)
			}
			written.add(int(step), reply, answer.get("value"))
		}
		var lines strings.Builder
		for _, line := range vector.get("lines").(list) {
			lines.WriteString(line.(string) + "\n")
		}
		if written.text() != lines.String() {
			t.Errorf("%s:\n%s", vector.get("about"), written.text())
		}
		if any(written.digest()) != vector.get("digest") {
			t.Errorf("%s: digest %s", vector.get("about"), written.digest())
		}
	}
}

func TestNewVariablesAreKept(t *testing.T) {
	values := variables{}
	made, err := values.text("${new:a} ${a} ${new:b}")
	if err != nil {
		t.Fatal(err)
	}
	ids := strings.Split(made, " ")
	if !uuid.MatchString(ids[0]) || ids[0] != ids[1] || ids[0] == ids[2] {
		t.Error(made)
	}
}

func TestAMemberThatStandsTwice(t *testing.T) {
	if value, err := parse([]byte(`{"a": 1, "a": 2}`)); err == nil {
		t.Error(show(value))
	}
}

func TestPointers(t *testing.T) {
	value, err := parse([]byte(`{"a/b": [{"c~d": "x"}], "n": null}`))
	if err != nil {
		t.Fatal(err)
	}
	if found, err := resolve(value, "/a~1b/0/c~0d"); err != nil || found != any("x") {
		t.Errorf("%v, %v", found, err)
	}
	for _, pointer := range []string{"/b", "/a~1b/1", "/a~1b/-1", "/a~1b/x", "/n/x"} {
		if found, err := resolve(value, pointer); err == nil {
			t.Errorf("%s leads to %v", pointer, found)
		}
	}
}
