/**
 * What every user of Antiphon's services needs beside the generated clients:
 * typed errors, verified snapshots, the digest of compiled messages, request
 * ids, and a watch that goes on after a cut.
 *
 * The generated clients and messages are imported by their proto's path:
 * `antiphon/history/v1/history_service`.
 *
 * @module
 */

export { frames, unary } from "./calls.js";
export { messagesDigest } from "./digest.js";
export { AntiphonError, type FieldViolation, Status, type StatusName } from "./errors.js";
export { newRequestId } from "./ids.js";
export {
  readSnapshot,
  type Snapshot,
  SnapshotAssembler,
  SnapshotTruncatedError,
} from "./snapshot.js";
export { UnknownChangeError, watchBranch, type WatchOptions } from "./watch.js";
