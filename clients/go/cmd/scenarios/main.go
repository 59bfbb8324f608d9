// Command scenarios runs the shared scenarios on a running pair and writes one
// JSON object for each to standard output, in the form that the scenarios' README
// fixes for the runners of all languages.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"antiphon/internal/scenario"
)

// What the command exits with.
const (
	allPassed  = 0
	someFailed = 1
	wrongUsage = 2
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(arguments []string, output, errors io.Writer) int {
	options, err := parseOptions(arguments)
	if err != nil {
		fmt.Fprintf(errors, "scenarios: %v\n%s", err, usage)
		return wrongUsage
	}
	suite, err := prepare(options)
	if err != nil {
		fmt.Fprintf(errors, "scenarios: %v\n", err)
		return wrongUsage
	}
	pair, err := scenario.Connect(options.history, options.compiler)
	if err != nil {
		fmt.Fprintf(errors, "scenarios: %v\n", err)
		return wrongUsage
	}
	defer pair.Close()
	code := allPassed
	for _, each := range suite.Scenarios {
		outcome := suite.Run(each, pair)
		if outcome.Fault != nil {
			code = someFailed
		}
		if err := tell(each, outcome, options, output); err != nil {
			fmt.Fprintf(errors, "scenarios: %v\n", err)
			return someFailed
		}
	}
	return code
}

// prepare reads the scenarios asked for and makes the folder of the transcripts.
func prepare(options *options) (*scenario.Suite, error) {
	suite, err := scenario.Load(options.scenarios)
	if err != nil {
		return nil, err
	}
	if len(options.only) > 0 {
		if err := suite.Choose(options.only); err != nil {
			return nil, err
		}
	}
	if options.transcripts == "" {
		return suite, nil
	}
	return suite, os.MkdirAll(options.transcripts, 0o777)
}

// line is what is written of a scenario.
type line struct {
	Scenario   string `json:"scenario"`
	OK         bool   `json:"ok"`
	Steps      int    `json:"steps"`
	Digests    int    `json:"digests"`
	Transcript string `json:"transcript"`
	Message    string `json:"message,omitempty"`
}

func tell(each *scenario.Scenario, outcome *scenario.Outcome, options *options, output io.Writer) error {
	told := line{each.Name, outcome.Fault == nil, each.Steps(), outcome.Digests, outcome.TranscriptDigest, ""}
	if outcome.Fault != nil {
		told.Message = outcome.Fault.Error()
	}
	encoder := json.NewEncoder(output)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(told); err != nil {
		return err
	}
	if options.transcripts == "" {
		return nil
	}
	path := filepath.Join(options.transcripts, each.Name+".txt")
	return os.WriteFile(path, []byte(outcome.Transcript), 0o666)
}
