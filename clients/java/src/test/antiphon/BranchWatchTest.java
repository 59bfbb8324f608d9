package antiphon;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import antiphon.history.v1.BranchChange;
import antiphon.history.v1.BranchChangeKind;
import antiphon.history.v1.HistoryServiceGrpc;
import antiphon.history.v1.WatchBranchRequest;
import antiphon.history.v1.WatchBranchResponse;
import antiphon.history.v1.WatchCaughtUp;
import antiphon.history.v1.WatchHeartbeat;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.Timeout;

/** Watches against a service that answers as each test scripts it. */
public class BranchWatchTest {
  private static final String BRANCH = "0b0b0b0b-0000-4000-8000-000000000001";
  private static final String INCARNATION = "0b0b0b0b-0000-4000-8000-00000000000a";

  @Rule public final Timeout limit = new Timeout(30, TimeUnit.SECONDS);

  private final Queue<Consumer<StreamObserver<WatchBranchResponse>>> script = new ArrayDeque<>();
  private final List<WatchBranchRequest> requests =
      Collections.synchronizedList(new ArrayList<>());
  private final List<Duration> pauses = new ArrayList<>();
  private Server server;
  private ManagedChannel channel;

  /** Plays one part of the script for each call. */
  private final class Service extends HistoryServiceGrpc.HistoryServiceImplBase {
    @Override
    public void watchBranch(
        WatchBranchRequest request, StreamObserver<WatchBranchResponse> observer) {
      requests.add(request);
      script.remove().accept(observer);
    }
  }

  @Before
  public void start() throws Exception {
    String name = InProcessServerBuilder.generateName();
    server =
        InProcessServerBuilder.forName(name)
            .directExecutor()
            .addService(new Service())
            .build()
            .start();
    channel = InProcessChannelBuilder.forName(name).build();
  }

  @After
  public void stop() throws Exception {
    channel.shutdownNow().awaitTermination(10, TimeUnit.SECONDS);
    server.shutdownNow().awaitTermination(10, TimeUnit.SECONDS);
  }

  private BranchWatch watch(WatchToken after) {
    return new BranchWatch(channel, BRANCH, after, pauses::add);
  }

  private static BranchChange.Builder membership(long revision) {
    return BranchChange.newBuilder()
        .setRevision(revision)
        .setIncarnation(INCARNATION)
        .setKind(BranchChangeKind.BRANCH_CHANGE_KIND_MEMBERSHIP);
  }

  private static WatchBranchResponse frame(BranchChange.Builder change) {
    return WatchBranchResponse.newBuilder().setChange(change).build();
  }

  private static void send(StreamObserver<WatchBranchResponse> observer, long... revisions) {
    for (long revision : revisions) {
      observer.onNext(frame(membership(revision)));
    }
  }

  private static void cut(StreamObserver<WatchBranchResponse> observer) {
    observer.onError(Status.UNAVAILABLE.asRuntimeException());
  }

  @Test
  public void tellsChangesInOrderAndWhereItStands() {
    script.add(
        observer -> {
          send(observer, 1);
          observer.onNext(
              WatchBranchResponse.newBuilder()
                  .setCaughtUp(WatchCaughtUp.newBuilder().setRevision(1))
                  .build());
          observer.onNext(
              WatchBranchResponse.newBuilder()
                  .setHeartbeat(WatchHeartbeat.newBuilder().setRevision(1))
                  .build());
          send(observer, 2);
        });
    try (BranchWatch watch = watch(WatchToken.BEGINNING)) {
      assertTrue(watch.hasNext());
      assertEquals(WatchToken.BEGINNING, watch.token());
      assertEquals(1, watch.next().getRevision());
      assertEquals(new WatchToken(1, INCARNATION), watch.token());
      assertEquals(2, watch.next().getRevision());
      assertEquals(new WatchToken(2, INCARNATION), watch.token());
    }
    assertEquals(
        List.of(WatchBranchRequest.newBuilder().setBranchId(BRANCH).build()), requests);
  }

  @Test
  public void goesOnAfterACutAndTellsNothingTwice() {
    script.add(
        observer -> {
          send(observer, 4, 5);
          cut(observer);
        });
    script.add(observer -> send(observer, 5, 6));
    try (BranchWatch watch = watch(new WatchToken(3, INCARNATION))) {
      assertEquals(4, watch.next().getRevision());
      assertEquals(5, watch.next().getRevision());
      assertEquals(6, watch.next().getRevision());
    }
    assertEquals(2, requests.size());
    assertEquals(3, requests.get(0).getAfterRevision());
    assertEquals(INCARNATION, requests.get(0).getIncarnation());
    assertEquals(5, requests.get(1).getAfterRevision());
    assertEquals(INCARNATION, requests.get(1).getIncarnation());
    assertEquals(1, pauses.size());
  }

  @Test
  public void goesOnAfterAnEndWithoutAReason() {
    script.add(
        observer -> {
          send(observer, 1);
          observer.onCompleted();
        });
    script.add(observer -> send(observer, 2));
    try (BranchWatch watch = watch(WatchToken.BEGINNING)) {
      assertEquals(1, watch.next().getRevision());
      assertEquals(2, watch.next().getRevision());
    }
  }

  @Test
  public void waitsLongerFromTryToTryAndAnewOnceConnected() {
    script.add(
        observer -> {
          send(observer, 1);
          cut(observer);
        });
    for (int failure = 0; failure < 6; failure++) {
      script.add(BranchWatchTest::cut);
    }
    script.add(
        observer -> {
          send(observer, 2);
          cut(observer);
        });
    script.add(observer -> send(observer, 3));
    try (BranchWatch watch = watch(WatchToken.BEGINNING)) {
      assertEquals(1, watch.next().getRevision());
      assertEquals(2, watch.next().getRevision());
      assertEquals(3, watch.next().getRevision());
    }
    List<Long> longest = List.of(100L, 200L, 400L, 800L, 1600L, 2000L, 2000L, 100L);
    assertEquals(longest.size(), pauses.size());
    for (int index = 0; index < longest.size(); index++) {
      long pause = pauses.get(index).toMillis();
      assertTrue(pauses.toString(), pause <= longest.get(index));
      assertTrue(pauses.toString(), pause >= longest.get(index) / 2);
    }
  }

  @Test
  public void failsWhereItWasNeverConnected() {
    script.add(BranchWatchTest::cut);
    try (BranchWatch watch = watch(WatchToken.BEGINNING)) {
      AntiphonException error = assertThrows(AntiphonException.class, watch::next);
      assertEquals(Status.Code.UNAVAILABLE, error.code());
    }
    assertEquals(List.of(), pauses);
  }

  @Test
  public void failsWithAnyOtherError() {
    script.add(
        observer -> {
          send(observer, 1);
          observer.onError(Status.OUT_OF_RANGE.asRuntimeException());
        });
    try (BranchWatch watch = watch(WatchToken.BEGINNING)) {
      assertEquals(1, watch.next().getRevision());
      AntiphonException error = assertThrows(AntiphonException.class, watch::hasNext);
      assertEquals(Status.Code.OUT_OF_RANGE, error.code());
    }
    assertEquals(List.of(), pauses);
  }

  @Test
  public void endsWithTheBranch() {
    script.add(
        observer -> {
          observer.onNext(
              frame(membership(2).setKind(BranchChangeKind.BRANCH_CHANGE_KIND_DELETED)));
          observer.onError(Status.FAILED_PRECONDITION.asRuntimeException());
        });
    try (BranchWatch watch = watch(WatchToken.BEGINNING)) {
      assertEquals(2, watch.next().getRevision());
      assertFalse(watch.hasNext());
      assertThrows(NoSuchElementException.class, watch::next);
    }
  }

  @Test
  public void failsAtAChangeThatItMustNotSkip() {
    script.add(observer -> observer.onNext(frame(membership(1).setKindValue(99))));
    try (BranchWatch watch = watch(WatchToken.BEGINNING)) {
      AntiphonException error = assertThrows(AntiphonException.class, watch::next);
      assertEquals("CHANGE_UNKNOWN", error.reason());
      assertEquals(WatchToken.BEGINNING, watch.token());
    }

    BranchChange.Builder unknownStep = membership(1);
    unknownStep.addOperationsBuilder();
    script.add(observer -> observer.onNext(frame(unknownStep)));
    try (BranchWatch watch = watch(WatchToken.BEGINNING)) {
      assertEquals(
          "CHANGE_UNKNOWN", assertThrows(AntiphonException.class, watch::next).reason());
    }
  }

  @Test
  public void skipsAChangeThatItMay() {
    script.add(
        observer -> {
          observer.onNext(frame(membership(1).setKindValue(99).setIgnorable(true)));
          cut(observer);
        });
    script.add(observer -> send(observer, 2));
    try (BranchWatch watch = watch(WatchToken.BEGINNING)) {
      assertEquals(2, watch.next().getRevision());
    }
    assertEquals(1, requests.get(1).getAfterRevision());
  }

  @Test
  public void closingEndsAWait() throws Exception {
    CountDownLatch waiting = new CountDownLatch(1);
    script.add(observer -> waiting.countDown());
    BranchWatch watch = watch(WatchToken.BEGINNING);
    FutureTask<Boolean> reading = new FutureTask<>(watch::hasNext);
    Thread reader = new Thread(reading);
    reader.start();
    waiting.await();

    watch.close();

    assertFalse(reading.get());
    reader.join();
  }
}
