package antiphon.scenarios;

import antiphon.compiler.v1.CompilerServiceOuterClass;
import antiphon.history.v1.Errors;
import antiphon.history.v1.ExchangeServiceOuterClass;
import antiphon.history.v1.HistoryServiceOuterClass;
import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.JsonFormat;
import com.google.rpc.ErrorDetailsProto;
import java.util.List;
import java.util.Objects;

/** The methods and messages of the contract by their names, and their proto3 JSON. */
final class Contract {
  private static final List<FileDescriptor> SERVICES =
      List.of(
          HistoryServiceOuterClass.getDescriptor(),
          ExchangeServiceOuterClass.getDescriptor(),
          CompilerServiceOuterClass.getDescriptor());
  private static final List<FileDescriptor> DETAILS =
      List.of(Errors.getDescriptor(), ErrorDetailsProto.getDescriptor());

  private Contract() {}

  /**
   * Returns the method that {@code package.Service/Method} names.
   *
   * @throws ScenarioException there is none
   */
  static MethodDescriptor method(String name) {
    for (FileDescriptor file : SERVICES) {
      for (ServiceDescriptor service : file.getServices()) {
        if (name.startsWith(service.getFullName() + "/")) {
          String simpleName = name.substring(service.getFullName().length() + 1);
          MethodDescriptor method = service.findMethodByName(simpleName);
          if (method != null) {
            return method;
          }
        }
      }
    }
    throw new ScenarioException("there is no method " + name);
  }

  /**
   * Returns the type of an error's detail.
   *
   * @throws ScenarioException the contract has none of that name
   */
  static Descriptor detail(String name) {
    return DETAILS.stream()
        .filter(file -> name.startsWith(file.getPackage() + "."))
        .map(file -> file.findMessageTypeByName(name.substring(file.getPackage().length() + 1)))
        .filter(Objects::nonNull)
        .findFirst()
        .orElseThrow(() -> new ScenarioException("the contract has no detail " + name));
  }

  /**
   * Returns the bytes of a message in proto3 JSON.
   *
   * @throws ScenarioException it is no message of that type
   */
  static byte[] encode(JsonElement json, Descriptor type) {
    DynamicMessage.Builder message = DynamicMessage.newBuilder(type);
    try {
      JsonFormat.parser().merge(Json.text(json), message);
    } catch (InvalidProtocolBufferException error) {
      throw new ScenarioException("no " + type.getFullName() + ": " + error.getMessage());
    }
    return message.build().toByteArray();
  }

  /**
   * Returns a message in proto3 JSON.
   *
   * @throws ScenarioException the bytes are no message of that type
   */
  static JsonElement decode(ByteString bytes, Descriptor type) {
    try {
      DynamicMessage message = DynamicMessage.parseFrom(type, bytes);
      return JsonParser.parseString(
          JsonFormat.printer().omittingInsignificantWhitespace().print(message));
    } catch (InvalidProtocolBufferException error) {
      throw new ScenarioException("the reply is no " + type.getFullName());
    }
  }
}
