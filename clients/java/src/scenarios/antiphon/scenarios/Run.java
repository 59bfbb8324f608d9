package antiphon.scenarios;

import antiphon.AntiphonException;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import io.grpc.Metadata;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** One scenario while it runs. */
final class Run {
  private static final long TIMEOUT_MILLIS = 60_000;
  private static final Map<String, Set<String>> STEP_MEMBERS =
      Map.of(
          "call",
          Set.of(
              "call", "request", "requests", "request_hex", "metadata", "timeout_ms", "take",
              "expect", "save"),
          "open",
          Set.of("open", "call", "request", "request_hex", "metadata", "timeout_ms"),
          "read",
          Set.of("read", "count", "expect", "save"),
          "cancel",
          Set.of("cancel"));

  private final Pair pair;
  private final Transcript transcript;
  private final Variables variables = new Variables();
  private final Map<String, Stream> streams = new HashMap<>();
  private int digests;

  /** A call and its replies. */
  private record Stream(Call call, Replies replies) {}

  /**
   * How a scenario went.
   *
   * @param digests digests checked
   * @param transcript what was answered
   * @param fault what went wrong; null: nothing
   */
  record Outcome(int digests, Transcript transcript, String fault) {}

  private Run(Pair pair, Set<String> volatileNames) {
    this.pair = pair;
    this.transcript = new Transcript(volatileNames);
  }

  /** Runs a scenario on a pair. */
  static Outcome of(Scenario scenario, Pair pair, Set<String> volatileNames) {
    Run run = new Run(pair, volatileNames);
    String fault = null;
    for (int number = 0; number < scenario.steps().size() && fault == null; number++) {
      JsonObject step = scenario.steps().get(number);
      try {
        run.step(number, step);
      } catch (MismatchException | ScenarioException error) {
        fault = "step " + number + ", " + title(step) + ": " + error.getMessage();
      }
    }
    run.streams.values().forEach(stream -> stream.replies().cancel());
    return new Outcome(run.digests, run.transcript, fault);
  }

  private static String kind(JsonObject step) {
    return List.of("open", "read", "cancel").stream().filter(step::has).findFirst().orElse("call");
  }

  private static String title(JsonObject step) {
    String kind = kind(step);
    return step.has(kind) ? kind + " " + step.get(kind).getAsString() : "of no kind";
  }

  private void step(int number, JsonObject step) {
    String kind = kind(step);
    only(step, STEP_MEMBERS.get(kind), "a step");
    switch (kind) {
      case "open" -> streams.put(step.get("open").getAsString(), start(step));
      case "read" -> {
        Stream stream = stream(step.get("read").getAsString());
        answers(number, step, stream, limit(step, "count"));
      }
      case "cancel" -> stream(step.get("cancel").getAsString()).replies().cancel();
      default -> call(number, step);
    }
  }

  private void call(int number, JsonObject step) {
    Stream stream = start(step);
    Replies replies = stream.replies();
    try {
      List<ByteString> came = answers(number, step, stream, limit(step, "take"));
      if (replies.ended() && replies.error() == null) {
        digests += Digests.check(stream.call(), step, came);
      }
    } finally {
      replies.cancel();
    }
  }

  private Stream stream(String name) {
    Stream stream = streams.get(name);
    if (stream == null) {
      throw new ScenarioException("no stream " + name + " is open");
    }
    return stream;
  }

  private Stream start(JsonObject step) {
    MethodDescriptor method = Contract.method(step.get("call").getAsString());
    long timeout = step.has("timeout_ms") ? step.get("timeout_ms").getAsLong() : TIMEOUT_MILLIS;
    Call call = new Call(method, requests(step, method), headers(step), timeout);
    return new Stream(call, pair.start(call));
  }

  private List<byte[]> requests(JsonObject step, MethodDescriptor method) {
    Descriptor type = method.getInputType();
    List<byte[]> requests = new ArrayList<>();
    if (step.has("request_hex")) {
      String hex = variables.text(step.get("request_hex").getAsString());
      requests.add(HexFormat.of().parseHex(hex));
    } else if (method.isClientStreaming()) {
      JsonArray list = variables.request(step.get("requests")).getAsJsonArray();
      list.forEach(each -> requests.add(Contract.encode(each, type)));
    } else {
      requests.add(Contract.encode(variables.request(step.get("request")), type));
    }
    return requests;
  }

  private Metadata headers(JsonObject step) {
    Metadata headers = new Metadata();
    if (step.has("metadata")) {
      step.getAsJsonObject("metadata")
          .entrySet()
          .forEach(
              each ->
                  headers.put(
                      Metadata.Key.of(each.getKey(), Metadata.ASCII_STRING_MARSHALLER),
                      variables.text(each.getValue().getAsString())));
    }
    return headers;
  }

  /** Returns how many replies a step reads; null: all of them. */
  private static Integer limit(JsonObject step, String member) {
    return step.has(member) ? step.get(member).getAsInt() : null;
  }

  /** Reads answers, writes them down, and checks and keeps what the step says. */
  private List<ByteString> answers(int number, JsonObject step, Stream stream, Integer limit) {
    Replies replies = stream.replies();
    List<ByteString> came = limit == null ? replies.readAll() : replies.read(limit);
    boolean brokeOff = limit == null || came.size() < limit;
    Failure failure =
        brokeOff && replies.error() != null
            ? Failure.of(AntiphonException.of(replies.error()))
            : null;
    JsonArray told = new JsonArray();
    for (ByteString reply : came) {
      JsonElement json = Contract.decode(reply, stream.call().method().getOutputType());
      transcript.add(number, Integer.toString(told.size()), json);
      told.add(json);
    }
    if (failure != null) {
      transcript.add(number, "error", failure.leaves());
    }
    boolean streams = stream.call().streams();
    new Check(told, failure, streams).match(expectation(step));
    if (limit != null && came.size() < limit) {
      throw new MismatchException("", limit + " replies", came.size() + ", then the end");
    }
    save(step, streams ? told : told.isEmpty() ? new JsonObject() : told.get(0));
    return came;
  }

  private JsonObject expectation(JsonObject step) {
    return step.has("expect")
        ? variables.expectation(step.get("expect")).getAsJsonObject()
        : new JsonObject();
  }

  private void save(JsonObject step, JsonElement told) {
    if (step.has("save")) {
      step.getAsJsonObject("save")
          .entrySet()
          .forEach(
              each ->
                  variables.keep(
                      each.getKey(), Json.resolve(told, each.getValue().getAsString())));
    }
  }

  /**
   * Fails where an object of the file has a member that the format has not.
   *
   * @throws ScenarioException it has one
   */
  static void only(JsonObject told, Set<String> known, String what) {
    for (String name : told.keySet()) {
      if (!known.contains(name)) {
        throw new ScenarioException(what + " has no " + name);
      }
    }
  }
}
