package antiphon;

import antiphon.history.v1.BranchChange;
import antiphon.history.v1.BranchChangeKind;
import antiphon.history.v1.HistoryServiceGrpc;
import antiphon.history.v1.WatchBranchRequest;
import antiphon.history.v1.WatchBranchResponse;
import io.grpc.Channel;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A branch's changes in order, each once, as they are committed.
 *
 * <p>A watch that was connected and is cut (UNAVAILABLE) opens its stream again after the last
 * change seen, for as long as it takes, with 0.05 to 2 seconds between two tries. {@link #hasNext}
 * blocks until there is a change; it is false after the change that deleted the branch and after
 * {@link #close}. To go on in another process, keep {@link #token} and begin there.
 *
 * <p>One thread reads; any thread may close.
 */
public final class BranchWatch implements Iterator<BranchChange>, AutoCloseable {
  private static final Duration FIRST_DELAY = Duration.ofMillis(100);
  private static final Duration LONGEST_DELAY = Duration.ofSeconds(2);

  private final HistoryServiceGrpc.HistoryServiceBlockingStub stub;
  private final String branchId;
  private final Pause pause;
  private final Context.CancellableContext context = Context.current().withCancellation();
  private Iterator<WatchBranchResponse> frames;
  private WatchToken token;
  private BranchChange next;
  private boolean connected;
  private boolean deleted;
  private int failures;

  /** Waits before another try. */
  @FunctionalInterface
  interface Pause {
    void rest(Duration duration) throws InterruptedException;
  }

  /**
   * Prepares a watch; the first {@link #hasNext} or {@link #next} opens the stream.
   *
   * @param channel the history service
   * @param branchId the branch
   * @param after where to begin, such as {@link WatchToken#BEGINNING}
   */
  public BranchWatch(Channel channel, String branchId, WatchToken after) {
    this(channel, branchId, after, duration -> Thread.sleep(duration.toMillis()));
  }

  BranchWatch(Channel channel, String branchId, WatchToken after, Pause pause) {
    this.stub = HistoryServiceGrpc.newBlockingStub(channel);
    this.branchId = branchId;
    this.token = after;
    this.pause = pause;
  }

  /** Where the watch stands: after the last change that {@link #next} returned. */
  public WatchToken token() {
    return token;
  }

  /**
   * Waits for the next change.
   *
   * @return false: the branch was deleted, or the watch closed
   * @throws AntiphonException the call failed for good, such as with REVISION_EXPIRED; or the
   *     change is of a kind that these stubs do not know and must not skip (CHANGE_UNKNOWN)
   */
  @Override
  public boolean hasNext() {
    while (next == null && !deleted && !context.isCancelled()) {
      try {
        next = read();
      } catch (StatusRuntimeException thrown) {
        frames = null;
        if (!context.isCancelled()) {
          restAfter(AntiphonException.of(thrown));
        }
      }
    }
    return next != null;
  }

  /**
   * Returns the next change; waits for it.
   *
   * @throws NoSuchElementException the branch was deleted, or the watch closed
   * @throws AntiphonException as {@link #hasNext}
   */
  @Override
  public BranchChange next() {
    if (!hasNext()) {
      throw new NoSuchElementException("the watch has ended");
    }
    BranchChange change = next;
    next = null;
    pass(change);
    deleted = change.getKind() == BranchChangeKind.BRANCH_CHANGE_KIND_DELETED;
    return change;
  }

  /** Ends the stream, and a wait for it. A change that was waited for already can still be read. */
  @Override
  public void close() {
    context.cancel(null);
  }

  /** Reads one frame; null where it brings no change to return. */
  private BranchChange read() {
    if (frames == null) {
      frames = open();
    }
    if (!frames.hasNext()) {
      throw Status.UNAVAILABLE
          .withDescription("the watch ended without a reason")
          .asRuntimeException();
    }
    WatchBranchResponse frame = frames.next();
    connected = true;
    failures = 0;
    // A change may come twice.
    if (!frame.hasChange() || frame.getChange().getRevision() <= token.revision()) {
      return null;
    }
    return understood(frame.getChange());
  }

  private Iterator<WatchBranchResponse> open() {
    WatchBranchRequest request =
        WatchBranchRequest.newBuilder()
            .setBranchId(branchId)
            .setAfterRevision(token.revision())
            .setIncarnation(token.incarnation())
            .build();
    // The call is bound to the context that it is made in, and ends with it.
    Context former = context.attach();
    try {
      return stub.watchBranch(request);
    } finally {
      context.detach(former);
    }
  }

  private BranchChange understood(BranchChange change) {
    boolean known =
        switch (change.getKind()) {
          case UNRECOGNIZED, BRANCH_CHANGE_KIND_UNSPECIFIED -> false;
          default ->
              change.getOperationsList().stream()
                  .allMatch(each -> each.getOperationCase().getNumber() != 0);
        };
    if (known) {
      return change;
    }
    if (change.getIgnorable()) {
      pass(change);
      return null;
    }
    throw AntiphonException.found(
        Status.Code.UNIMPLEMENTED,
        "CHANGE_UNKNOWN",
        "revision " + change.getRevision() + " is a change that this client does not know");
  }

  private void pass(BranchChange change) {
    token = new WatchToken(change.getRevision(), change.getIncarnation());
  }

  private void restAfter(AntiphonException error) {
    if (error.code() != Status.Code.UNAVAILABLE || !connected) {
      throw error;
    }
    long delay = FIRST_DELAY.toMillis() << Math.min(failures, 10);
    failures++;
    long longest = Math.min(delay, LONGEST_DELAY.toMillis());
    try {
      // Half of it by chance, so that watchers cut together do not come back together.
      pause.rest(Duration.ofMillis(ThreadLocalRandom.current().nextLong(longest / 2, longest + 1)));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      close();
    }
  }
}
