import { createHash } from "node:crypto";

import { type Branch } from "../gen/antiphon/history/v1/branch.js";
import {
  type HistoryServiceClient,
  ReadSnapshotRequest,
  type ReadSnapshotResponse,
  type SnapshotBatch,
  type SnapshotFooter,
  type SnapshotFrames,
  type SnapshotHeader,
  type SnapshotOrder,
} from "../gen/antiphon/history/v1/history_service.js";
import { Message } from "../gen/antiphon/message/v1/message.js";
import { frames } from "./calls.js";

type Frame = ReadSnapshotResponse["frame"];

/** One whole, verified selection of a branch at one revision. */
export interface Snapshot {
  /** The branch at that revision. */
  readonly branch: Branch;
  /** The branch's incarnation. */
  readonly incarnation: string;
  /** The revision read at. */
  readonly revision: bigint;
  /** The branch's system record, in the selection or not. Undefined: it has none. */
  readonly system: Message | undefined;
  /** The selection, in order. */
  readonly messages: readonly Message[];
}

/** A snapshot's stream was cut, or is not what its footer says. */
export class SnapshotTruncatedError extends Error {
  override readonly name = "SnapshotTruncatedError";
}

/**
 * Reads a selection of a branch and verifies that it came whole.
 *
 * Cost: that of the selection, which is held in memory.
 *
 * @param history The generated client.
 * @param request What to read. It is always read whole: `sinceRevision` is not
 *     taken.
 * @throws {AntiphonError} The call was answered with an error.
 * @throws {SnapshotTruncatedError} What came is not whole.
 */
export async function readSnapshot(
  history: HistoryServiceClient,
  request: Pick<ReadSnapshotRequest, "branchId"> &
    Partial<Pick<ReadSnapshotRequest, "atRevision" | "progression">>,
): Promise<Snapshot> {
  const assembler = new SnapshotAssembler();
  const whole = ReadSnapshotRequest.create({
    branchId: request.branchId,
    atRevision: request.atRevision,
    progression: request.progression,
    takesJoined: true,
  });
  for await (const frame of frames(history.readSnapshot(whole))) {
    assembler.add(frame);
  }
  return assembler.finish();
}

/**
 * Puts the frames of one ReadSnapshot stream together again, read without
 * `since_revision`. A cut, reordered or altered stream is an error by
 * construction.
 */
export class SnapshotAssembler {
  #header: SnapshotHeader | undefined;
  #footer: SnapshotFooter | undefined;
  readonly #messageIds: string[] = [];
  readonly #messages: Message[] = [];
  readonly #hash = createHash("sha256");

  /**
   * Takes the next frame, or those that it joins.
   *
   * @throws {SnapshotTruncatedError} One has no place here.
   */
  add({ frame }: ReadSnapshotResponse): void {
    for (const each of frame?.$case === "joined" ? apart(frame.value) : [frame]) {
      this.#take(each);
    }
  }

  /**
   * Verifies counts, order and hash after the last frame.
   *
   * @throws {SnapshotTruncatedError} Something is missing, or is not what was sent.
   */
  finish(): Snapshot {
    const [header, footer] = [this.#header, this.#footer];
    if (header?.branch === undefined || footer === undefined) {
      throw new SnapshotTruncatedError("the snapshot ended before its footer");
    }
    this.#checkCounts(header, footer);
    this.#checkOrder();
    if (!this.#hash.digest().equals(footer.sha256)) {
      throw new SnapshotTruncatedError("the messages do not match the hash in the footer");
    }
    return {
      branch: header.branch,
      incarnation: header.incarnation,
      revision: header.revision,
      system: header.system,
      messages: this.#messages,
    };
  }

  #take(frame: Frame): void {
    if (this.#footer !== undefined) {
      throw new SnapshotTruncatedError("the snapshot goes on after its footer");
    }
    if ((frame?.$case === "header") !== (this.#header === undefined)) {
      throw new SnapshotTruncatedError("a snapshot begins with its one header");
    }
    switch (frame?.$case) {
      case "header":
        this.#header = frame.value;
        break;
      case "order":
        this.#addOrder(frame.value);
        break;
      case "batch":
        this.#addBatch(frame.value);
        break;
      case "footer":
        this.#footer = frame.value;
        break;
      case "delta":
      case "joined":
      case undefined:
        throw new SnapshotTruncatedError("the snapshot has a frame that a whole one does not have");
    }
  }

  #addOrder({ messageIds }: SnapshotOrder): void {
    if (this.#messages.length > 0) {
      throw new SnapshotTruncatedError("the snapshot's order goes on after its messages began");
    }
    this.#messageIds.push(...messageIds);
  }

  #addBatch({ messages }: SnapshotBatch): void {
    for (const encoded of messages) {
      // The hash is over the bytes as they came: what decoding does not know
      // would be missing from a message encoded again.
      this.#hash.update(encoded);
      this.#messages.push(decodeMessage(encoded));
    }
  }

  #checkCounts(header: SnapshotHeader, footer: SnapshotFooter): void {
    const arrived = BigInt(this.#messages.length);
    const announced = [header.messageCount, BigInt(this.#messageIds.length), footer.messageCount];
    if (announced.some((count) => count !== arrived)) {
      throw new SnapshotTruncatedError(
        `${arrived} messages arrived; header, order and footer announce ${announced.join(", ")}`,
      );
    }
  }

  #checkOrder(): void {
    const index = this.#messages.findIndex(({ id }, at) => id !== this.#messageIds[at]);
    if (index >= 0) {
      throw new SnapshotTruncatedError(`message ${index} is not the one that the order names`);
    }
  }
}

/** The frames that joined ones stand for, in their order. */
function apart({ header, orders, deltas, batches, footer }: SnapshotFrames): Frame[] {
  return [
    ...(header === undefined ? [] : [{ $case: "header" as const, value: header }]),
    ...orders.map((value) => ({ $case: "order" as const, value })),
    ...deltas.map((value) => ({ $case: "delta" as const, value })),
    ...batches.map((value) => ({ $case: "batch" as const, value })),
    ...(footer === undefined ? [] : [{ $case: "footer" as const, value: footer }]),
  ];
}

function decodeMessage(encoded: Uint8Array): Message {
  try {
    return Message.decode(encoded);
  } catch (cause) {
    throw new SnapshotTruncatedError("a message's bytes are not an encoded Message", { cause });
  }
}
