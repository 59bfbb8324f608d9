package antiphon

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"

	compilerv1 "antiphon/compiler/v1"
	messagev1 "antiphon/message/v1"
)

// MessagesDigest returns the lower-case hexadecimal SHA-256 over a compilation's
// messages in the canonical form that CompileResponse.messages_digest states.
// Compare it with that field to prove that the messages are those compiled. It
// fails for a part of a kind that this client does not know. Cost: one pass over
// the messages.
func MessagesDigest(response *compilerv1.CompileResponse) (string, error) {
	form := canonicalForm{sha256.New()}
	form.Write([]byte("antiphon.compiled.v1\x00"))
	if response.SystemText != nil {
		form.byte(byte(messagev1.Role_ROLE_SYSTEM))
		form.byte(1)
		form.string(response.GetSystemText())
	}
	for index, message := range response.GetMessages() {
		if err := form.message(message); err != nil {
			return "", fmt.Errorf("antiphon: compiled message %d: %w", index, err)
		}
	}
	return hex.EncodeToString(form.Sum(nil)), nil
}

// RequestDigest returns the lower-case hexadecimal SHA-256 over a provider's
// request, as in CompileResponse.request_digest.
func RequestDigest(providerRequestJSON string) string {
	sum := sha256.Sum256([]byte(providerRequestJSON))
	return hex.EncodeToString(sum[:])
}

// canonicalForm hashes compiled messages in their canonical form.
type canonicalForm struct{ hash.Hash }

func (f canonicalForm) byte(value byte) {
	f.Write([]byte{value})
}

func (f canonicalForm) flag(value bool) {
	if value {
		f.byte(1)
	} else {
		f.byte(0)
	}
}

func (f canonicalForm) count(value int) {
	var encoded [4]byte
	binary.BigEndian.PutUint32(encoded[:], uint32(value))
	f.Write(encoded[:])
}

func (f canonicalForm) bytes(value []byte) {
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(value)))
	f.Write(length[:])
	f.Write(value)
}

func (f canonicalForm) string(value string) {
	f.bytes([]byte(value))
}

func (f canonicalForm) optional(value *string) {
	f.flag(value != nil)
	if value != nil {
		f.string(*value)
	}
}

func (f canonicalForm) message(message *compilerv1.CompiledMessage) error {
	f.byte(byte(message.GetRole()))
	switch content := message.GetContent().(type) {
	case *compilerv1.CompiledMessage_Text:
		f.byte(1)
		f.string(content.Text)
		return nil
	case *compilerv1.CompiledMessage_Parts:
		f.byte(2)
		parts := content.Parts.GetParts()
		f.count(len(parts))
		for index, part := range parts {
			if err := f.part(part); err != nil {
				return fmt.Errorf("part %d: %w", index, err)
			}
		}
		return nil
	}
	return fmt.Errorf("unknown content %T", message.GetContent())
}

func (f canonicalForm) part(part *compilerv1.Part) error {
	switch kind := part.GetPart().(type) {
	case *compilerv1.Part_Text:
		f.text(kind.Text)
	case *compilerv1.Part_ImageUrl:
		f.byte(2)
		f.string(kind.ImageUrl.GetUrl())
		f.byte(byte(kind.ImageUrl.GetDetail()))
	case *compilerv1.Part_Thinking:
		f.thinking(kind.Thinking)
	case *compilerv1.Part_ToolCall:
		f.call(kind.ToolCall)
	case *compilerv1.Part_ToolResult:
		return f.result(kind.ToolResult)
	case *compilerv1.Part_Image:
		f.image(kind.Image)
	case *compilerv1.Part_Opaque:
		f.opaque(kind.Opaque)
	case *compilerv1.Part_Json:
		f.json(kind.Json)
	default:
		return fmt.Errorf("unknown part %T", kind)
	}
	return nil
}

func (f canonicalForm) result(result *compilerv1.CompiledResult) error {
	f.byte(5)
	f.string(result.GetCallId())
	f.string(result.GetName())
	f.flag(result.GetIsError())
	f.flag(result.GetIsSynthesized())
	f.count(len(result.GetContent()))
	for index, block := range result.GetContent() {
		switch kind := block.GetBlock().(type) {
		case *messagev1.ContentBlock_Text:
			f.text(kind.Text)
		case *messagev1.ContentBlock_Json:
			f.json(kind.Json)
		case *messagev1.ContentBlock_Image:
			f.image(kind.Image)
		case *messagev1.ContentBlock_Opaque:
			f.opaque(kind.Opaque)
		default:
			return fmt.Errorf("block %d of a result: unknown block %T", index, kind)
		}
	}
	return nil
}

func (f canonicalForm) text(text *messagev1.Text) {
	f.byte(1)
	f.string(text.GetText())
}

func (f canonicalForm) thinking(thinking *messagev1.Thinking) {
	f.byte(3)
	f.string(thinking.GetThinking())
	f.optional(thinking.Signature)
	f.optional(thinking.Provider)
	f.optional(thinking.Model)
}

func (f canonicalForm) call(call *compilerv1.CompiledCall) {
	f.byte(4)
	f.string(call.GetId())
	f.string(call.GetName())
	f.string(call.GetArgumentsJson())
	f.optional(call.ArgumentsText)
	f.optional(call.ThoughtSignature)
}

func (f canonicalForm) image(image *messagev1.Image) {
	f.byte(6)
	f.string(image.GetMimeType())
	if data, ok := image.GetSource().(*messagev1.Image_Data); ok {
		f.byte(1)
		f.bytes(data.Data)
	} else {
		f.byte(2)
		f.string(image.GetUrl())
	}
	f.byte(byte(image.GetDetail()))
}

func (f canonicalForm) opaque(opaque *messagev1.Opaque) {
	f.byte(7)
	f.string(opaque.GetProvider())
	f.string(opaque.GetModel())
	f.string(opaque.GetKind())
	f.string(opaque.GetDataJson())
}

func (f canonicalForm) json(json *messagev1.Json) {
	f.byte(8)
	f.string(json.GetValueJson())
}
