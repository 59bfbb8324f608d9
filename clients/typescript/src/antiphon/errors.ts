import { type Metadata, type ServiceError, status as Status } from "@grpc/grpc-js";

import { RevisionConflict } from "../gen/antiphon/history/v1/errors.js";
import { type Any } from "../gen/google/protobuf/any.js";
import { type Duration } from "../gen/google/protobuf/duration.js";
import { BadRequest, ErrorInfo, RetryInfo } from "../gen/google/rpc/error_details.js";
import { Status as RpcStatus } from "../gen/google/rpc/status.js";

/** The gRPC status codes, by name and by number. */
export { Status };

/** Name of a gRPC status code, such as `NOT_FOUND`. */
export type StatusName = keyof typeof Status;

/** A field of the request that breaks its documented rule. */
export interface FieldViolation {
  /** Path of the field, such as `messages[3].action_request.arguments_json`. */
  readonly field: string;
  /** Which rule, in words. */
  readonly description: string;
}

const DETAILS_KEY = "grpc-status-details-bin";
const TYPE_URL_PREFIX = "type.googleapis.com/";

/**
 * A call that was answered with an error.
 *
 * `reason` and `domain` name the error for programs; the protos' `ErrorReason`
 * enums say what each reason means and what a caller does about it.
 */
export class AntiphonError extends Error {
  override readonly name = "AntiphonError";

  /**
   * @param code The gRPC status code.
   * @param message What went wrong, in words; no part of the contract.
   * @param details The details of the error's `google.rpc.Status`, in order.
   * @param options `cause`: the gRPC error this one was made of.
   */
  constructor(
    readonly code: Status,
    message: string,
    readonly details: readonly Any[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /**
   * Makes a typed error of what a generated client threw or handed to its
   * callback. An error that is not gRPC's is returned as it is.
   */
  static from(error: ServiceError): AntiphonError;
  static from(error: unknown): unknown;
  static from(error: unknown): unknown {
    if (error instanceof AntiphonError || !isServiceError(error)) {
      return error;
    }
    const status = statusOf(error.metadata);
    // The details belong to the call only if they tell of the same status.
    const details = status?.code === error.code ? status.details : [];
    const message = details.length > 0 && status !== undefined ? status.message : error.details;
    return new AntiphonError(error.code, message, details, { cause: error });
  }

  /** Name of the gRPC status code. */
  get codeName(): StatusName {
    return Status[this.code] as StatusName;
  }

  /**
   * The reason from the registry, such as `REVISION_CONFLICT`. Undefined for
   * what no service answered: a deadline, a cancellation, a lost connection.
   */
  get reason(): string | undefined {
    return this.#info?.reason;
  }

  /** `antiphon.history` or `antiphon.compiler`: whose registry `reason` is of. */
  get domain(): string | undefined {
    return this.#info?.domain;
  }

  /** The facts of the error, by name; the registry says which each reason has. */
  get metadata(): ReadonlyMap<string, string> {
    return new Map(Object.entries(this.#info?.metadata ?? {}));
  }

  /** The request's fields at fault: the first 50. */
  get fields(): readonly FieldViolation[] {
    const violations = this.detail("google.rpc.BadRequest", BadRequest)?.fieldViolations ?? [];
    return violations.map(({ field, description }) => ({ field, description }));
  }

  /** The revisions of a REVISION_CONFLICT. */
  get revisionConflict(): RevisionConflict | undefined {
    return this.detail("antiphon.history.v1.RevisionConflict", RevisionConflict);
  }

  /** Milliseconds to wait before the call is made again. Undefined: the service does not say. */
  get retryDelayMs(): number | undefined {
    const delay = this.detail("google.rpc.RetryInfo", RetryInfo)?.retryDelay;
    return delay === undefined ? undefined : milliseconds(delay);
  }

  /**
   * Decodes the first detail of a type.
   *
   * @param typeName The message's full name.
   * @param type Its generated codec.
   * @returns Undefined where the error has no such detail.
   */
  detail<T>(typeName: string, type: { decode(bytes: Uint8Array): T }): T | undefined {
    const found = this.details.find((each) => each.typeUrl === TYPE_URL_PREFIX + typeName);
    return found === undefined ? undefined : type.decode(found.value);
  }

  get #info(): ErrorInfo | undefined {
    return this.detail("google.rpc.ErrorInfo", ErrorInfo);
  }
}

function isServiceError(error: unknown): error is ServiceError {
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "number" &&
    "details" in error &&
    "metadata" in error
  );
}

/** The status in the trailers; undefined where there is none, or bytes that are none. */
function statusOf(trailers: Metadata): RpcStatus | undefined {
  const [encoded] = trailers.get(DETAILS_KEY);
  if (!(encoded instanceof Buffer)) {
    return undefined;
  }
  try {
    return RpcStatus.decode(encoded);
  } catch {
    // A proxy's broken trailer must not hide the status code itself.
    return undefined;
  }
}

function milliseconds(duration: Duration): number {
  return Number(duration.seconds) * 1000 + duration.nanos / 1_000_000;
}
