package antiphon;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import antiphon.history.v1.KeptRun;
import antiphon.history.v1.ReadSnapshotResponse;
import antiphon.history.v1.SnapshotBatch;
import antiphon.history.v1.SnapshotDelta;
import antiphon.history.v1.SnapshotFooter;
import antiphon.history.v1.SnapshotFrames;
import antiphon.history.v1.SnapshotHeader;
import antiphon.history.v1.SnapshotOrder;
import antiphon.history.v1.SnapshotRun;
import antiphon.message.v1.InstructionContent;
import antiphon.message.v1.Message;
import com.google.common.hash.Hashing;
import com.google.protobuf.ByteString;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import org.junit.Test;

public class SnapshotAssemblerTest {
  private static final ByteString ONE = message("one");
  // A field of a later contract, number 500: verified and handed on as it came.
  private static final ByteString TWO =
      message("two").concat(ByteString.copyFrom(new byte[] {(byte) 0xa0, 0x1f, 1}));

  private static ByteString message(String text) {
    return Message.newBuilder()
        .setId(text)
        .setInstruction(InstructionContent.newBuilder().setInstruction(text))
        .build()
        .toByteString();
  }

  private static ReadSnapshotResponse header(int count) {
    return ReadSnapshotResponse.newBuilder()
        .setHeader(SnapshotHeader.newBuilder().setRevision(7).setMessageCount(count))
        .build();
  }

  private static ReadSnapshotResponse order(String... ids) {
    return ReadSnapshotResponse.newBuilder()
        .setOrder(SnapshotOrder.newBuilder().addAllMessageIds(List.of(ids)))
        .build();
  }

  private static ReadSnapshotResponse batch(ByteString... messages) {
    return ReadSnapshotResponse.newBuilder()
        .setBatch(SnapshotBatch.newBuilder().addAllMessages(List.of(messages)))
        .build();
  }

  private static ReadSnapshotResponse footer(int count, ByteString bytes) {
    byte[] sha256 = Hashing.sha256().hashBytes(bytes.toByteArray()).asBytes();
    return ReadSnapshotResponse.newBuilder()
        .setFooter(
            SnapshotFooter.newBuilder()
                .setMessageCount(count)
                .setSha256(ByteString.copyFrom(sha256)))
        .build();
  }

  private static ReadSnapshotResponse joined(List<ReadSnapshotResponse> frames) {
    SnapshotFrames.Builder joined = SnapshotFrames.newBuilder();
    for (ReadSnapshotResponse frame : frames) {
      switch (frame.getFrameCase()) {
        case HEADER -> joined.setHeader(frame.getHeader());
        case ORDER -> joined.addOrders(frame.getOrder());
        case BATCH -> joined.addBatches(frame.getBatch());
        case FOOTER -> joined.setFooter(frame.getFooter());
        case DELTA -> joined.addDeltas(frame.getDelta());
        default -> throw new IllegalArgumentException(frame.toString());
      }
    }
    return ReadSnapshotResponse.newBuilder().setJoined(joined).build();
  }

  private static List<ReadSnapshotResponse> whole() {
    return new ArrayList<>(
        List.of(
            header(2), order("one"), order("two"), batch(ONE), batch(TWO),
            footer(2, ONE.concat(TWO))));
  }

  private static void assertTruncated(String message, List<ReadSnapshotResponse> frames) {
    AntiphonException error =
        assertThrows(
            AntiphonException.class, () -> SnapshotAssembler.assemble(frames.iterator()));
    assertEquals("SNAPSHOT_TRUNCATED", error.reason());
    assertEquals(Status.Code.DATA_LOSS, error.code());
    assertTrue(error.getMessage(), error.getMessage().contains(message));
  }

  @Test
  public void yieldsWhatCame() {
    Snapshot snapshot = SnapshotAssembler.assemble(whole().iterator());

    assertEquals(7, snapshot.header().getRevision());
    assertEquals(List.of("one", "two"), snapshot.messageIds());
    assertEquals(List.of(ONE, TWO), snapshot.storedMessages());
    assertEquals("two", snapshot.messages().get(1).getInstruction().getInstruction());
  }

  @Test
  public void yieldsAnEmptyOne() {
    List<ReadSnapshotResponse> frames = List.of(header(0), footer(0, ByteString.EMPTY));

    assertEquals(List.of(), SnapshotAssembler.assemble(frames.iterator()).storedMessages());
  }

  @Test
  public void yieldsWhatCameJoined() {
    Snapshot single = SnapshotAssembler.assemble(whole().iterator());
    List<ReadSnapshotResponse> some = new ArrayList<>(whole().subList(0, 2));
    some.add(joined(List.of()));
    some.add(joined(whole().subList(2, 4)));
    some.add(joined(whole().subList(4, 6)));

    for (List<ReadSnapshotResponse> frames : List.of(List.of(joined(whole())), some)) {
      Snapshot snapshot = SnapshotAssembler.assemble(frames.iterator());

      assertEquals(single.header(), snapshot.header());
      assertEquals(single.messageIds(), snapshot.messageIds());
      assertEquals(single.storedMessages(), snapshot.storedMessages());
    }
  }

  @Test
  public void refusesJoinedFramesThatHaveNoPlace() {
    assertTruncated("one header", List.of(joined(whole().subList(1, 6))));
    assertTruncated("before its footer", List.of(joined(whole().subList(0, 5))));
    assertTruncated("after its footer", List.of(joined(whole()), joined(whole())));
    assertTruncated(
        "order goes on",
        List.of(joined(List.of(header(2), batch(ONE))), joined(whole().subList(1, 3))));

    ReadSnapshotResponse delta =
        ReadSnapshotResponse.newBuilder().setDelta(SnapshotDelta.getDefaultInstance()).build();
    List<ReadSnapshotResponse> changes = whole();
    changes.add(1, delta);
    assertTruncated("no place", List.of(joined(changes)));
  }

  @Test
  public void refusesOneThatWasCut() {
    assertTruncated("before its footer", List.of());
    assertTruncated("before its footer", whole().subList(0, 5));
  }

  @Test
  public void refusesOtherBytes() {
    List<ReadSnapshotResponse> frames = whole();
    frames.set(4, batch(message("tvo")));
    assertTruncated("hash", frames);

    List<ReadSnapshotResponse> swapped = whole();
    swapped.set(3, batch(TWO));
    swapped.set(4, batch(ONE));
    assertTruncated("hash", swapped);
  }

  @Test
  public void refusesOtherCounts() {
    List<ReadSnapshotResponse> header = whole();
    header.set(0, header(3));
    assertTruncated("announce 3, 2 and 2", header);

    List<ReadSnapshotResponse> order = whole();
    order.remove(2);
    assertTruncated("announce 2, 1 and 2", order);

    List<ReadSnapshotResponse> footer = whole();
    footer.set(5, footer(1, ONE.concat(TWO)));
    assertTruncated("announce 2, 2 and 1", footer);
  }

  @Test
  public void refusesFramesOutOfTurn() {
    assertTruncated("one header", whole().subList(1, 6));

    List<ReadSnapshotResponse> twice = whole();
    twice.add(1, header(2));
    assertTruncated("one header", twice);

    List<ReadSnapshotResponse> late = whole();
    late.add(4, late.remove(2));
    assertTruncated("order goes on", late);

    List<ReadSnapshotResponse> longer = whole();
    longer.add(batch(ONE));
    assertTruncated("after its footer", longer);
  }

  @Test
  public void refusesChangesOnly() {
    ReadSnapshotResponse delta =
        ReadSnapshotResponse.newBuilder()
            .setDelta(
                SnapshotDelta.newBuilder()
                    .addRuns(SnapshotRun.newBuilder().setKept(KeptRun.newBuilder().setCount(1))))
            .build();
    assertTruncated("no place", List.of(header(1), delta));

    ReadSnapshotResponse header =
        ReadSnapshotResponse.newBuilder()
            .setHeader(SnapshotHeader.newBuilder().setIsDelta(true))
            .build();
    assertTruncated("delta", List.of(header, footer(0, ByteString.EMPTY)));
  }

  @Test
  public void refusesWhatIsNoMessage() {
    ByteString broken = ByteString.copyFrom(new byte[] {8});
    Snapshot snapshot =
        SnapshotAssembler.assemble(
            List.of(header(1), order("x"), batch(broken), footer(1, broken)).iterator());

    AntiphonException error = assertThrows(AntiphonException.class, snapshot::messages);
    assertEquals("SNAPSHOT_TRUNCATED", error.reason());
  }
}
