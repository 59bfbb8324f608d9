import { setTimeout as sleep } from "node:timers/promises";

import {
  type BranchChange,
  BranchChangeKind,
  type HistoryServiceClient,
  WatchBranchRequest,
  type WatchBranchResponse,
} from "../gen/antiphon/history/v1/history_service.js";
import { frames } from "./calls.js";
import { AntiphonError, Status } from "./errors.js";

/** Milliseconds before the first attempt to connect again; each next one waits twice as long. */
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 2000;

/** Where a watch begins, and what ends it. */
export interface WatchOptions {
  /** The last revision already seen. Absent: every retained change is wanted. */
  readonly afterRevision?: bigint;
  /**
   * The incarnation that revision belongs to, as `BranchChange.incarnation`
   * gave it: a branch made anew is then REVISION_EXPIRED, never mistaken for the
   * former one.
   */
  readonly incarnation?: string;
  /** Ends the watch without an error. */
  readonly signal?: AbortSignal;
}

/** The server sent a change that this version does not know and must not skip. */
export class UnknownChangeError extends Error {
  override readonly name = "UnknownChangeError";
}

/**
 * Yields every committed change of a branch, in order, each once, and stays
 * open for more. When the connection is cut it connects again and goes on after
 * the last change it yielded. It ends after the change that deleted the branch,
 * when the signal aborts, or when its consumer leaves the loop.
 *
 * To go on in another process, keep `revision` and `incarnation` of the last
 * change that was dealt with and give them as options.
 *
 * @param history The generated client.
 * @param branchId The branch.
 * @throws {AntiphonError} Another error than UNAVAILABLE, or the first
 *     connection failed.
 * @throws {UnknownChangeError} A change is of a kind that must not be skipped.
 */
export async function* watchBranch(
  history: HistoryServiceClient,
  branchId: string,
  options: WatchOptions = {},
): AsyncGenerator<BranchChange, void> {
  const position = new WatchPosition(branchId, options);
  const { signal } = options;
  for (;;) {
    const cut = yield* changesUntilCut(history, position, signal);
    if (position.ended || isAborted(signal)) {
      return;
    }
    await pause(position.delayAfter(cut), signal);
  }
}

/** Yields what one connection brings, and returns the error that ended it. */
async function* changesUntilCut(
  history: HistoryServiceClient,
  position: WatchPosition,
  signal: AbortSignal | undefined,
): AsyncGenerator<BranchChange, unknown> {
  if (isAborted(signal)) {
    return undefined;
  }
  const call = history.watchBranch(position.request());
  const cancel = (): void => {
    call.cancel();
  };
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    for await (const frame of frames(call)) {
      const change = position.take(frame);
      if (change !== undefined) {
        yield change;
      }
      if (position.ended) {
        return undefined;
      }
    }
    return new AntiphonError(Status.UNAVAILABLE, "the watch ended without a reason");
  } catch (error) {
    return error;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

/** Waits so many milliseconds, or until the signal aborts. */
async function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(delayMs, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    if (!isAborted(signal)) {
      throw error;
    }
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted ?? false;
}

/** Where one watch is, and what becomes of each frame and each failure. */
class WatchPosition {
  /** Whether nothing more is to come. */
  ended = false;
  #revision: bigint;
  #incarnation: string;
  #connected = false;
  #failures = 0;

  constructor(
    readonly branchId: string,
    options: WatchOptions,
  ) {
    this.#revision = options.afterRevision ?? 0n;
    this.#incarnation = options.incarnation ?? "";
  }

  /** The request that goes on from here. */
  request(): WatchBranchRequest {
    return WatchBranchRequest.create({
      branchId: this.branchId,
      afterRevision: this.#revision,
      incarnation: this.#incarnation,
    });
  }

  /** Takes a frame; returns the change it brings, unless it was seen or may be skipped. */
  take({ frame }: WatchBranchResponse): BranchChange | undefined {
    this.#connected = true;
    this.#failures = 0;
    if (frame?.$case !== "change" || frame.value.revision <= this.#revision) {
      return undefined;
    }
    const change = frame.value;
    const known = isKnown(change);
    if (!known && !change.ignorable) {
      throw new UnknownChangeError(`revision ${change.revision} is a change of an unknown kind`);
    }
    this.#revision = change.revision;
    this.#incarnation = change.incarnation;
    this.ended = change.kind === BranchChangeKind.BRANCH_CHANGE_KIND_DELETED;
    return known ? change : undefined;
  }

  /**
   * Milliseconds to wait before connecting again.
   *
   * @throws The same error, where that is pointless.
   */
  delayAfter(error: unknown): number {
    if (
      !(error instanceof AntiphonError) ||
      error.code !== Status.UNAVAILABLE ||
      !this.#connected
    ) {
      throw error;
    }
    const delay = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** this.#failures);
    this.#failures += 1;
    // Many watchers of one server that stopped must not come back as one.
    return delay * (0.5 + Math.random() / 2);
  }
}

function isKnown(change: BranchChange): boolean {
  // A later server may send numbers that the enum does not have.
  return (
    change.kind in BranchChangeKind &&
    change.kind !== BranchChangeKind.BRANCH_CHANGE_KIND_UNSPECIFIED &&
    change.operations.every(({ operation }) => operation !== undefined)
  );
}
