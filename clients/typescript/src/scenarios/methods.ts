import { type ServiceDefinition } from "@grpc/grpc-js";

import { CompilerServiceService } from "../gen/antiphon/compiler/v1/compiler_service.js";
import { ExchangeServiceService } from "../gen/antiphon/history/v1/exchange_service.js";
import { HistoryServiceService } from "../gen/antiphon/history/v1/history_service.js";
import { ScenarioFailure } from "./failure.js";
import { type Json } from "./json.js";
import { decodeToJson, encodeJson, typesOf } from "./schema.js";

/** Which service of the pair answers. */
export type Side = "compiler" | "history";

/**
 * A method of the contract, over its generated types. A request is made of its
 * JSON by way of the generated type, and a reply's JSON by way of its generated
 * type too: what those lose, the scenarios miss.
 */
export interface Method {
  /** `package.Service/Method`. */
  readonly name: string;
  readonly side: Side;
  readonly clientStreams: boolean;
  readonly serverStreams: boolean;
  /** Makes a value of the generated request type. */
  readonly request: (json: Json) => unknown;
  /** Decodes a value of the generated request type. */
  readonly decodeRequest: (encoded: Buffer) => unknown;
  /** Encodes a value of the generated request type. */
  readonly encodeRequest: (request: unknown) => Buffer;
  /** Decodes a value of the generated reply type. */
  readonly decodeReply: (encoded: Buffer) => unknown;
  /** Gives a value of the generated reply type in proto3 JSON. */
  readonly replyJson: (reply: unknown) => Json;
}

const METHODS = new Map(
  [
    ...methodsOf(HistoryServiceService, "history"),
    ...methodsOf(ExchangeServiceService, "history"),
    ...methodsOf(CompilerServiceService, "compiler"),
  ].map((method) => [method.name, method]),
);

/**
 * The method that `package.Service/Method` names.
 *
 * @throws {ScenarioFailure} There is none.
 */
export function methodNamed(name: string): Method {
  const method = METHODS.get(name);
  if (method === undefined) {
    throw new ScenarioFailure(`there is no method ${name}`);
  }
  return method;
}

/** The names of all methods. */
export function methodNames(): string[] {
  return [...METHODS.keys()];
}

function methodsOf(definition: ServiceDefinition, side: Side): Method[] {
  return Object.values(definition).map((generated) => {
    const name = generated.path.slice(1);
    const [service = "", method = ""] = name.split("/");
    const types = typesOf(service, method);
    const decodeRequest = generated.requestDeserialize as (encoded: Buffer) => unknown;
    const encodeReply = generated.responseSerialize as (reply: unknown) => Buffer;
    return {
      name,
      side,
      clientStreams: generated.requestStream,
      serverStreams: generated.responseStream,
      request: (json) => decodeRequest(Buffer.from(encodeJson(types.request, json))),
      decodeRequest,
      encodeRequest: generated.requestSerialize as (request: unknown) => Buffer,
      decodeReply: generated.responseDeserialize as (encoded: Buffer) => unknown,
      replyJson: (reply) => decodeToJson(types.reply, encodeReply(reply)),
    };
  });
}
