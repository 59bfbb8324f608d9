package main

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"
)

func TestTheExampleTellsItsStory(t *testing.T) {
	history, compiler := os.Getenv("ANTIPHON_HISTORY"), os.Getenv("ANTIPHON_COMPILER")
	if history == "" || compiler == "" {
		t.Skip("ANTIPHON_HISTORY and ANTIPHON_COMPILER name no running pair")
	}
	want, err := os.ReadFile("../../../example-output.txt")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var output bytes.Buffer
	if err := run(ctx, history, compiler, &output); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(output.Bytes(), want) {
		t.Errorf("it tells:\n%s", output.String())
	}
}
