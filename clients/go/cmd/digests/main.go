// Command digests checks the digests of compilations that it reads.
//
// Its standard input is any number of CompileResponses, each after its length in
// four bytes, big-endian. It prints how many it has checked; the first digest that
// is not that of what it stands for ends it with status 1.
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"google.golang.org/protobuf/proto"

	"antiphon"
	compilerv1 "antiphon/compiler/v1"
)

func main() {
	checked, err := check(bufio.NewReader(os.Stdin))
	if err != nil {
		fmt.Fprintf(os.Stderr, "digests: response %d: %v\n", checked, err)
		os.Exit(1)
	}
	fmt.Println(checked)
}

// check checks responses until the end; it returns how many were right.
func check(input io.Reader) (int, error) {
	for checked := 0; ; checked++ {
		var length uint32
		if err := binary.Read(input, binary.BigEndian, &length); errors.Is(err, io.EOF) {
			return checked, nil
		} else if err != nil {
			return checked, err
		}
		encoded := make([]byte, length)
		if _, err := io.ReadFull(input, encoded); err != nil {
			return checked, err
		}
		if err := checkOne(encoded); err != nil {
			return checked, err
		}
	}
}

func checkOne(encoded []byte) error {
	response := new(compilerv1.CompileResponse)
	if err := proto.Unmarshal(encoded, response); err != nil {
		return err
	}
	digest, err := antiphon.MessagesDigest(response)
	if err != nil {
		return err
	}
	if digest != response.GetMessagesDigest() {
		return fmt.Errorf("messages_digest is %s, not %s", response.GetMessagesDigest(), digest)
	}
	if response.ProviderRequestJson == nil {
		return nil
	}
	if digest := antiphon.RequestDigest(response.GetProviderRequestJson()); digest != response.GetRequestDigest() {
		return fmt.Errorf("request_digest is %s, not %s", response.GetRequestDigest(), digest)
	}
	return nil
}
