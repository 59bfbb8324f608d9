package scenario

import (
	"google.golang.org/protobuf/proto"

	"antiphon"
	compilerv1 "antiphon/compiler/v1"
	historyv1 "antiphon/history/v1"
)

// checkDigests checks the digests that the answers of a call read to its end
// carry, and returns how many they are.
func checkDigests(call *call, replies []proto.Message) (int, error) {
	switch string(call.method.Output().FullName()) {
	case "antiphon.compiler.v1.CompileResponse":
		return compiledDigests(replies[0].(*compilerv1.CompileResponse))
	case "antiphon.compiler.v1.StreamCompileResponse":
		assembler := new(antiphon.CompileAssembler)
		for _, reply := range replies {
			if err := assembler.Add(reply.(*compilerv1.StreamCompileResponse)); err != nil {
				return 0, err
			}
		}
		response, err := assembler.Result()
		if err != nil {
			return 0, err
		}
		return compiledDigests(response)
	case "antiphon.history.v1.ReadSnapshotResponse":
		return snapshotDigests(call, replies)
	}
	return 0, nil
}

func compiledDigests(response *compilerv1.CompileResponse) (int, error) {
	if err := antiphon.VerifyDigests(response); err != nil {
		return 0, err
	}
	if response.ProviderRequestJson == nil {
		return 1, nil
	}
	return 2, nil
}

func snapshotDigests(call *call, replies []proto.Message) (int, error) {
	request := new(historyv1.ReadSnapshotRequest)
	if err := proto.Unmarshal(call.requests[0], request); err != nil {
		return 0, err
	}
	if request.SinceRevision != nil {
		return 0, nil
	}
	assembler := antiphon.NewSnapshotAssembler()
	for _, reply := range replies {
		if err := assembler.Add(reply.(*historyv1.ReadSnapshotResponse)); err != nil {
			return 0, err
		}
	}
	snapshot, err := assembler.Result()
	if err != nil {
		return 0, err
	}
	_, err = snapshot.Messages()
	return 1, err
}
