package main

import (
	"fmt"
	"strings"
)

const usage = `usage: scenarios --history HOST:PORT --compiler HOST:PORT [--scenarios DIR] [--only NAME ...] [--transcripts DIR]
`

// options are what the command line says.
type options struct {
	history     string
	compiler    string
	scenarios   string
	only        []string
	transcripts string
}

// parseOptions reads the command line. It is not left to the package flag, which
// knows no option of several values.
func parseOptions(arguments []string) (*options, error) {
	parsed := &options{scenarios: "../../tests/contract/scenarios"}
	texts := map[string]*string{
		"--history":     &parsed.history,
		"--compiler":    &parsed.compiler,
		"--scenarios":   &parsed.scenarios,
		"--transcripts": &parsed.transcripts,
	}
	for len(arguments) > 0 {
		name := arguments[0]
		values := until(arguments[1:], "--")
		arguments = arguments[1+len(values):]
		text, known := texts[name]
		switch {
		case name == "--only" && len(values) > 0:
			parsed.only = append(parsed.only, values...)
		case known && len(values) == 1:
			*text = values[0]
		default:
			return nil, fmt.Errorf("wrong use of %s", name)
		}
	}
	if parsed.history == "" || parsed.compiler == "" {
		return nil, fmt.Errorf("--history and --compiler are needed")
	}
	return parsed, nil
}

// until returns the arguments before the first that begins with a prefix.
func until(arguments []string, prefix string) []string {
	for index, argument := range arguments {
		if strings.HasPrefix(argument, prefix) {
			return arguments[:index]
		}
	}
	return arguments
}
