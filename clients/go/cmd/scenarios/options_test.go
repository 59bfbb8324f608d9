package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func TestOptions(t *testing.T) {
	parsed, err := parseOptions(strings.Fields(
		"--history h --only a b --compiler c --scenarios s --transcripts t --only d"))
	want := &options{history: "h", compiler: "c", scenarios: "s", transcripts: "t", only: []string{"a", "b", "d"}}
	if err != nil || !reflect.DeepEqual(parsed, want) {
		t.Errorf("%+v, %v", parsed, err)
	}
}

func TestWrongUse(t *testing.T) {
	for _, arguments := range []string{
		"", "--history h", "--history h --compiler", "--history h --compiler c --only",
		"--history h --compiler c --other o", "stray --history h --compiler c",
		"--history h i --compiler c",
		"--history h --compiler c --scenarios does/not/exist",
		"--history h --compiler c --scenarios ../../../../tests/contract/scenarios --only nothing",
	} {
		var output, errors bytes.Buffer
		if code := run(strings.Fields(arguments), &output, &errors); code != wrongUsage {
			t.Errorf("%q exits with %d", arguments, code)
		}
		if output.Len() > 0 || errors.Len() == 0 {
			t.Errorf("%q writes %q, %q", arguments, output.String(), errors.String())
		}
	}
}

func TestAScenarioThatFailsIsTold(t *testing.T) {
	var output, errors bytes.Buffer
	code := run([]string{
		"--history", "unix:/does/not/exist", "--compiler", "unix:/does/not/exist",
		"--scenarios", "../../../../tests/contract/scenarios", "--only", "branch_not_found",
	}, &output, &errors)
	if code != someFailed {
		t.Errorf("exits with %d", code)
	}
	const start = `{"scenario":"branch_not_found","ok":false,"steps":`
	if !strings.HasPrefix(output.String(), start) || !strings.Contains(output.String(), "UNAVAILABLE") ||
		strings.Count(output.String(), "\n") != 1 {
		t.Errorf("writes %q", output.String())
	}
}
