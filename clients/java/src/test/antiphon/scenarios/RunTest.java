package antiphon.scenarios;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import antiphon.compiler.v1.CompileRequest;
import antiphon.compiler.v1.CompileResponse;
import antiphon.compiler.v1.CompilerServiceGrpc;
import antiphon.history.v1.ClearMessagesRequest;
import antiphon.history.v1.ClearMessagesResponse;
import antiphon.history.v1.ExportBranchRequest;
import antiphon.history.v1.ExportBranchResponse;
import antiphon.history.v1.HistoryServiceGrpc;
import antiphon.history.v1.ImportBranchRequest;
import antiphon.history.v1.ImportBranchResponse;
import antiphon.history.v1.ReadSnapshotRequest;
import antiphon.history.v1.ReadSnapshotResponse;
import antiphon.history.v1.SnapshotFooter;
import antiphon.history.v1.SnapshotHeader;
import antiphon.history.v1.WatchBranchRequest;
import antiphon.history.v1.WatchBranchResponse;
import antiphon.history.v1.WatchHeartbeat;
import com.google.gson.JsonParser;
import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.StreamObserver;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.Timeout;

/** Scenarios against services of fixed answers. */
public class RunTest {
  private static final String HISTORY = "\"call\": \"antiphon.history.v1.HistoryService/";
  private static final String COMPILER = "\"call\": \"antiphon.compiler.v1.CompilerService/";
  private static final Context.Key<String> TENANT = Context.key("tenant");

  @Rule public final Timeout limit = new Timeout(30, TimeUnit.SECONDS);

  private final CountDownLatch watchEnded = new CountDownLatch(1);
  private Server server;
  private ManagedChannel channel;

  private static StatusRuntimeException refusal() {
    ErrorInfo info =
        ErrorInfo.newBuilder()
            .setReason("STORE_BUSY")
            .setDomain("antiphon.history")
            .putMetadata("k", "v")
            .build();
    RetryInfo.Builder retry = RetryInfo.newBuilder();
    retry.getRetryDelayBuilder().setSeconds(1);
    return StatusProto.toStatusRuntimeException(
        com.google.rpc.Status.newBuilder()
            .setCode(Status.Code.UNAVAILABLE.value())
            .addDetails(Any.pack(info))
            .addDetails(Any.pack(retry.build()))
            .build());
  }

  private static ServerInterceptor tenants() {
    return new ServerInterceptor() {
      @Override
      public <Q, A> ServerCall.Listener<Q> interceptCall(
          ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
        String tenant =
            headers.get(Metadata.Key.of("x-tenant", Metadata.ASCII_STRING_MARSHALLER));
        return Contexts.interceptCall(
            Context.current().withValue(TENANT, tenant), call, headers, next);
      }
    };
  }

  private final class History extends HistoryServiceGrpc.HistoryServiceImplBase {
    @Override
    public void clearMessages(
        ClearMessagesRequest request, StreamObserver<ClearMessagesResponse> observer) {
      if (request.hasExpectedRevision()) {
        observer.onError(refusal());
        return;
      }
      boolean replayed = "t1".equals(TENANT.get());
      observer.onNext(
          ClearMessagesResponse.newBuilder().setRevision(1L << 60).setReplayed(replayed).build());
      observer.onCompleted();
    }

    @Override
    public void exportBranch(
        ExportBranchRequest request, StreamObserver<ExportBranchResponse> observer) {
      observer.onNext(ExportBranchResponse.getDefaultInstance());
      observer.onNext(ExportBranchResponse.getDefaultInstance());
      observer.onError(refusal());
    }

    @Override
    public StreamObserver<ImportBranchRequest> importBranch(
        StreamObserver<ImportBranchResponse> observer) {
      List<String> keys = new ArrayList<>();
      return new StreamObserver<>() {
        @Override
        public void onNext(ImportBranchRequest request) {
          keys.add(request.getHead().getExternalKey());
        }

        @Override
        public void onError(Throwable error) {}

        @Override
        public void onCompleted() {
          ImportBranchResponse.Builder response = ImportBranchResponse.newBuilder();
          response.getBranchBuilder().setExternalKey(String.join(",", keys));
          observer.onNext(response.build());
          observer.onCompleted();
        }
      };
    }

    @Override
    public void readSnapshot(
        ReadSnapshotRequest request, StreamObserver<ReadSnapshotResponse> observer) {
      observer.onNext(
          ReadSnapshotResponse.newBuilder().setHeader(SnapshotHeader.newBuilder()).build());
      observer.onNext(
          ReadSnapshotResponse.newBuilder()
              .setFooter(SnapshotFooter.newBuilder().setSha256(ByteString.copyFromUtf8("no")))
              .build());
      observer.onCompleted();
    }

    @Override
    public void watchBranch(
        WatchBranchRequest request, StreamObserver<WatchBranchResponse> observer) {
      Context.current().addListener(ended -> watchEnded.countDown(), Runnable::run);
      for (int revision = 1; revision <= 3; revision++) {
        observer.onNext(
            WatchBranchResponse.newBuilder()
                .setHeartbeat(WatchHeartbeat.newBuilder().setRevision(revision))
                .build());
      }
    }
  }

  private static final class Compiler extends CompilerServiceGrpc.CompilerServiceImplBase {
    @Override
    public void compile(CompileRequest request, StreamObserver<CompileResponse> observer) {
      CompileResponse.Builder response =
          CompileResponse.newBuilder()
              // The digest of no messages.
              .setMessagesDigest(
                  "88db66c0c51449edb00b712884ac6ff55d539a5f606031ea6b0562a1627e3be4");
      if (request.hasStructure()) {
        response.addMessagesBuilder();
      }
      if (request.hasTarget()) {
        response.setProviderRequestJson("{}").setRequestDigest(request.getTarget());
      }
      observer.onNext(response.build());
      observer.onCompleted();
    }
  }

  @Before
  public void start() throws Exception {
    String name = InProcessServerBuilder.generateName();
    server =
        InProcessServerBuilder.forName(name)
            .addService(new History())
            .addService(new Compiler())
            .intercept(tenants())
            .build()
            .start();
    channel = InProcessChannelBuilder.forName(name).build();
  }

  @After
  public void stop() throws Exception {
    channel.shutdownNow().awaitTermination(10, TimeUnit.SECONDS);
    server.shutdownNow().awaitTermination(10, TimeUnit.SECONDS);
  }

  private Run.Outcome run(String... steps) {
    String file = "{\"name\": \"n\", \"steps\": [" + String.join(",", steps) + "]}";
    Scenario scenario = Scenario.parse("n", JsonParser.parseString(file));
    return Run.of(scenario, new Pair(channel, channel), Set.of());
  }

  private static String lines(Run.Outcome outcome) {
    return new String(outcome.transcript().bytes(), StandardCharsets.UTF_8);
  }

  private void assertFault(String fault, String... steps) {
    Run.Outcome outcome = run(steps);
    assertTrue("no fault", outcome.fault() != null);
    assertTrue(outcome.fault(), outcome.fault().contains(fault));
  }

  @Test
  public void passesAndWritesWhatCame() {
    Run.Outcome outcome =
        run(
            "{" + HISTORY + "ClearMessages\", \"request\": {}, \"save\": {\"r\": \"/revision\"},"
                + "\"expect\": {\"reply\": {\"revision\": \"1152921504606846976\"}}}",
            "{" + HISTORY + "ClearMessages\", \"request\": {\"branchId\": \"${r}\"},"
                + "\"metadata\": {\"x-tenant\": \"t1\"},"
                + "\"expect\": {\"reply\": {\"revision\": \"${r}\", \"replayed\": true}}}",
            "{" + HISTORY + "ClearMessages\", \"request_hex\": \"1000\","
                + "\"expect\": {\"error\": {\"code\": \"UNAVAILABLE\", \"reason\": \"STORE_BUSY\","
                + "\"domain\": \"antiphon.history\", \"metadata\": {\"k\": \"v\"},"
                + "\"retry\": true, \"details\": {\"google.rpc.RetryInfo\": {}}}}}");

    assertNull(outcome.fault());
    assertEquals(
        "0\t0\t/revision\ts\t1152921504606846976\n"
            + "1\t0\t/replayed\tb\ttrue\n"
            + "1\t0\t/revision\ts\t1152921504606846976\n"
            + "2\terror\t/code\ts\tUNAVAILABLE\n"
            + "2\terror\t/domain\ts\tantiphon.history\n"
            + "2\terror\t/metadata/k\ts\tv\n"
            + "2\terror\t/reason\ts\tSTORE_BUSY\n",
        lines(outcome));
  }

  @Test
  public void sendsAllOfAClientStream() {
    Run.Outcome outcome =
        run(
            "{" + HISTORY + "ImportBranch\", \"requests\": [{\"head\": {\"externalKey\": \"a\"}},"
                + "{\"head\": {\"externalKey\": \"b\"}}],"
                + "\"expect\": {\"reply\": {\"branch\": {\"externalKey\": \"a,b\"}}}}");

    assertNull(outcome.fault());
  }

  @Test
  public void readsAStreamThatBreaksOff() {
    String call = "{" + HISTORY + "ExportBranch\", \"request\": {}";
    String error = "\"error\": {\"reason\": \"STORE_BUSY\"}";

    assertNull(run(call + ", \"expect\": {\"count\": 2, " + error + "}}").fault());
    assertNull(run(call + ", \"expect\": {\"replies\": [{}, {}], " + error + "}}").fault());
    assertNull(run(call + ", \"take\": 2, \"expect\": {\"count\": 2}}").fault());
    assertFault("no error", call + ", \"expect\": {\"count\": 2}}");
    assertFault("3 replies", call + ", \"expect\": {\"count\": 3, " + error + "}}");
    assertFault("3 replies", call + ", \"take\": 3, \"expect\": {" + error + "}}");
  }

  @Test
  public void failsAtAnotherAnswer() {
    String call = "{" + HISTORY + "ClearMessages\", \"request\": {}";

    assertFault(
        "step 1, call antiphon.history.v1.HistoryService/ClearMessages: at /revision: expected",
        call + "}",
        call + ", \"expect\": {\"reply\": {\"revision\": \"2\"}}}");
    assertFault("/error: expected", call + ", \"expect\": {\"error\": {\"code\": \"ABORTED\"}}}");
    String refused = "{" + HISTORY + "ClearMessages\", \"request_hex\": \"1000\", \"expect\": ";
    assertFault("no error", refused + "{}}");
    assertFault("/error/code", refused + "{\"error\": {\"code\": \"ABORTED\"}}}");
    assertFault("/error/retry", refused + "{\"error\": {\"retry\": false}}}");
    assertFault(
        "/error/details/google.rpc.BadRequest",
        refused + "{\"error\": {\"details\": {\"google.rpc.BadRequest\": {}}}}}");
    assertFault("/error/metadata/k", refused + "{\"error\": {\"metadata\": {\"k\": \"w\"}}}}");
  }

  @Test
  public void failsAtAnotherDigest() {
    String call = "{" + COMPILER + "Compile\", \"request\": ";
    String digest = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";

    assertEquals(1, run(call + "{}}").digests());
    assertEquals(2, run(call + "{\"target\": \"" + digest + "\"}}").digests());
    assertFault("unknown kind", call + "{\"structure\": \"x\"}}");
    assertFault("/requestDigest", call + "{\"target\": \"0\"}}");
    assertFault("whole snapshot", "{" + HISTORY + "ReadSnapshot\", \"request\": {}}");
    assertNull(
        run("{" + HISTORY + "ReadSnapshot\", \"request\": {\"sinceRevision\": \"1\"}}").fault());
  }

  @Test
  public void readsAnOpenStreamInPiecesAndEndsIt() throws Exception {
    String heartbeat = "{\"heartbeat\": {\"revision\": \"%d\"}}";
    Run.Outcome outcome =
        run(
            "{\"open\": \"w\", " + HISTORY + "WatchBranch\", \"request\": {}}",
            "{\"read\": \"w\", \"count\": 1, \"expect\": {\"replies\": ["
                + String.format(heartbeat, 1) + "]}, \"save\": {\"x\": \"/0/heartbeat/revision\"}}",
            "{\"read\": \"w\", \"count\": 2, \"expect\": {\"replies\": ["
                + String.format(heartbeat, 2) + "," + String.format(heartbeat, 3) + "]}}",
            "{\"cancel\": \"w\"}");

    assertNull(outcome.fault());
    assertEquals(
        "1\t0\t/heartbeat/revision\ts\t1\n"
            + "2\t0\t/heartbeat/revision\ts\t2\n"
            + "2\t1\t/heartbeat/revision\ts\t3\n",
        lines(outcome));
    watchEnded.await();
  }

  @Test
  public void endsStreamsThatAreOpenStill() throws Exception {
    run(
        "{\"open\": \"w\", " + HISTORY + "WatchBranch\", \"request\": {}}",
        "{\"read\": \"w\", \"count\": 1}");

    watchEnded.await();
  }

  @Test
  public void aDeadlineEndsACall() {
    Run.Outcome outcome =
        run(
            "{" + HISTORY + "WatchBranch\", \"request\": {}, \"timeout_ms\": 200,"
                + "\"expect\": {\"error\": {\"code\": \"DEADLINE_EXCEEDED\"}}}");

    assertNull(outcome.fault());
    assertTrue(lines(outcome).endsWith("0\terror\t/code\ts\tDEADLINE_EXCEEDED\n"));
  }

  @Test
  public void failsAtWhatTheFormatHasNot() {
    String call = "{" + HISTORY + "ClearMessages\", \"request\": ";

    assertFault("a step has no later", call + "{}, \"later\": 1}");
    assertFault("an expectation has no rely", call + "{}, \"expect\": {\"rely\": {}}}");
    assertFault("no antiphon.history.v1.ClearMessagesRequest", call + "{\"branch\": \"b\"}}");
    assertFault("there is no method", "{" + HISTORY + "Clear\", \"request\": {}}");
    assertFault("no stream w is open", "{\"read\": \"w\"}");
    assertFault("nothing at /rev", call + "{}, \"save\": {\"r\": \"/rev\"}}");
    String refused = "{" + HISTORY + "ClearMessages\", \"request_hex\": \"1000\", \"expect\": ";
    assertFault("an error has no cause", refused + "{\"error\": {\"cause\": \"x\"}}}");
  }
}
