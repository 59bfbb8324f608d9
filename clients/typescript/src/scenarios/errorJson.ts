import { AntiphonError } from "../antiphon/index.js";
import { BadRequest } from "../gen/google/rpc/error_details.js";
import { type Json, type JsonObject, objectOf } from "./json.js";
import { decodeToJson, isMessageType } from "./schema.js";

/** What the contract says of one error, as JSON. */
export interface ErrorJson {
  /** Code, reason, domain, metadata and fields, as far as the error has them. */
  readonly leaves: JsonObject;
  /** Its details, by type name. */
  readonly details: JsonObject;
  /** Whether it says when to try again. */
  readonly retry: boolean;
}

/** Reads an error of a call. */
export function errorJson(error: AntiphonError): ErrorJson {
  return {
    leaves: objectOf(leaves(error)),
    details: objectOf(details(error)),
    retry: error.retryDelayMs !== undefined,
  };
}

function* leaves(error: AntiphonError): Generator<[string, Json]> {
  yield ["code", error.codeName];
  if (error.reason !== undefined && error.domain !== undefined) {
    yield ["reason", error.reason];
    yield ["domain", error.domain];
    yield ["metadata", objectOf(error.metadata)];
  }
  if (error.detail("google.rpc.BadRequest", BadRequest) !== undefined) {
    yield ["fields", error.fields.map(({ field }) => field)];
  }
}

function* details(error: AntiphonError): Generator<[string, Json]> {
  for (const { typeUrl, value } of error.details) {
    const typeName = typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
    if (isMessageType(typeName)) {
      yield [typeName, decodeToJson(typeName, value)];
    }
  }
}
