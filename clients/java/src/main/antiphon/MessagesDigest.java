package antiphon;

import antiphon.compiler.v1.CompileResponse;
import antiphon.compiler.v1.CompiledCall;
import antiphon.compiler.v1.CompiledMessage;
import antiphon.compiler.v1.CompiledResult;
import antiphon.compiler.v1.Part;
import antiphon.message.v1.ContentBlock;
import antiphon.message.v1.Image;
import antiphon.message.v1.Opaque;
import antiphon.message.v1.Role;
import antiphon.message.v1.Thinking;
import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * The digest of what was compiled: proof of what a model saw.
 *
 * <p>The canonical form it is made of stands at {@code CompileResponse.messages_digest} in the
 * protos. Compare {@link #of} with that field to know that nothing changed on the way. Cost: in
 * step with the messages' bytes.
 */
public final class MessagesDigest {
  private static final byte[] DOMAIN =
      "antiphon.compiled.v1\0".getBytes(StandardCharsets.US_ASCII);

  private final MessageDigest hash = Sha256.begin();

  private MessagesDigest() {
    hash.update(DOMAIN);
  }

  /**
   * Returns the digest of a compilation's messages and system text, in lower-case hexadecimal.
   *
   * @throws IllegalArgumentException a message or a part is of a kind that these stubs do not know
   */
  public static String of(CompileResponse compiled) {
    MessagesDigest digest = new MessagesDigest();
    if (compiled.hasSystemText()) {
      digest.textMessage(Role.ROLE_SYSTEM_VALUE, compiled.getSystemTextBytes());
    }
    compiled.getMessagesList().forEach(digest::message);
    return HexFormat.of().formatHex(digest.hash.digest());
  }

  private void message(CompiledMessage message) {
    switch (message.getContentCase()) {
      case TEXT -> textMessage(message.getRoleValue(), message.getTextBytes());
      case PARTS -> {
        octet(message.getRoleValue());
        octet(2);
        number(message.getParts().getPartsCount());
        message.getParts().getPartsList().forEach(this::part);
      }
      default -> throw new IllegalArgumentException("a compiled message of an unknown kind");
    }
  }

  private void textMessage(int role, ByteString text) {
    octet(role);
    octet(1);
    string(text);
  }

  private void part(Part part) {
    switch (part.getPartCase()) {
      case TEXT -> text(part.getText().getTextBytes());
      case IMAGE_URL -> {
        octet(2);
        string(part.getImageUrl().getUrlBytes());
        octet(part.getImageUrl().getDetailValue());
      }
      case THINKING -> thinking(part.getThinking());
      case TOOL_CALL -> call(part.getToolCall());
      case TOOL_RESULT -> result(part.getToolResult());
      case IMAGE -> image(part.getImage());
      case OPAQUE -> opaque(part.getOpaque());
      case JSON -> json(part.getJson().getValueJsonBytes());
      default -> throw new IllegalArgumentException("a compiled part of an unknown kind");
    }
  }

  private void block(ContentBlock block) {
    switch (block.getBlockCase()) {
      case TEXT -> text(block.getText().getTextBytes());
      case JSON -> json(block.getJson().getValueJsonBytes());
      case THINKING -> thinking(block.getThinking());
      case IMAGE -> image(block.getImage());
      case OPAQUE -> opaque(block.getOpaque());
      default -> throw new IllegalArgumentException("a block that has no place in a result");
    }
  }

  private void text(ByteString text) {
    octet(1);
    string(text);
  }

  private void thinking(Thinking thinking) {
    octet(3);
    string(thinking.getThinkingBytes());
    optional(thinking.hasSignature(), thinking.getSignatureBytes());
    optional(thinking.hasProvider(), thinking.getProviderBytes());
    optional(thinking.hasModel(), thinking.getModelBytes());
  }

  private void call(CompiledCall call) {
    octet(4);
    string(call.getIdBytes());
    string(call.getNameBytes());
    string(call.getArgumentsJsonBytes());
    optional(call.hasArgumentsText(), call.getArgumentsTextBytes());
    optional(call.hasThoughtSignature(), call.getThoughtSignatureBytes());
  }

  private void result(CompiledResult result) {
    octet(5);
    string(result.getCallIdBytes());
    string(result.getNameBytes());
    octet(result.getIsError() ? 1 : 0);
    octet(result.getIsSynthesized() ? 1 : 0);
    number(result.getContentCount());
    result.getContentList().forEach(this::block);
  }

  private void image(Image image) {
    octet(6);
    string(image.getMimeTypeBytes());
    octet(image.hasData() ? 1 : 2);
    string(image.hasData() ? image.getData() : image.getUrlBytes());
    octet(image.getDetailValue());
  }

  private void opaque(Opaque opaque) {
    octet(7);
    string(opaque.getProviderBytes());
    string(opaque.getModelBytes());
    string(opaque.getKindBytes());
    string(opaque.getDataJsonBytes());
  }

  private void json(ByteString text) {
    octet(8);
    string(text);
  }

  private void octet(int value) {
    hash.update((byte) value);
  }

  private void number(int value) {
    hash.update(ByteBuffer.allocate(Integer.BYTES).putInt(value).flip());
  }

  private void string(ByteString utf8) {
    hash.update(ByteBuffer.allocate(Long.BYTES).putLong(utf8.size()).flip());
    hash.update(utf8.asReadOnlyByteBuffer());
  }

  private void optional(boolean present, ByteString utf8) {
    octet(present ? 1 : 0);
    if (present) {
      string(utf8);
    }
  }
}
