import { readFileSync } from "node:fs";

import {
  createFileRegistry,
  createRegistry,
  type DescMessage,
  fromBinary,
  fromJson,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

import { ScenarioFailure } from "./failure.js";
import { isObject, type Json } from "./json.js";

const DESCRIPTORS = ["antiphon.binpb", "google-rpc.binpb"].map(
  // The descriptors stay beside the generated sources; this file runs in build/src/scenarios.
  (name) => new URL(`../../../src/gen/${name}`, import.meta.url),
);

const registry = createRegistry(
  ...DESCRIPTORS.map((file) =>
    createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(file))),
  ),
);

/**
 * Encodes a message given in proto3 JSON.
 *
 * @param typeName The message's full name.
 * @throws {ScenarioFailure} It is no such message: an unknown member, a value of
 *     another type, a text that is no Unicode.
 */
export function encodeJson(typeName: string, json: Json): Uint8Array {
  const type = messageType(typeName);
  refuseLoneSurrogates(json);
  try {
    return toBinary(type, fromJson(type, json, { registry }));
  } catch (cause) {
    throw new ScenarioFailure(`no ${typeName}: ${String(cause)}`, { cause });
  }
}

/**
 * Gives an encoded message in proto3 JSON.
 *
 * @param typeName The message's full name.
 */
export function decodeToJson(typeName: string, encoded: Uint8Array): Json {
  const type = messageType(typeName);
  return toJson(type, fromBinary(type, encoded), { registry });
}

/** Whether the contract, or gRPC's error model, has a message of that name. */
export function isMessageType(typeName: string): boolean {
  return registry.getMessage(typeName) !== undefined;
}

/** Full names of a method's request and reply. */
export function typesOf(service: string, method: string): { request: string; reply: string } {
  const found = registry.getService(service)?.methods.find(({ name }) => name === method);
  if (found === undefined) {
    throw new ScenarioFailure(`there is no method ${service}/${method}`);
  }
  return { request: found.input.typeName, reply: found.output.typeName };
}

function messageType(typeName: string): DescMessage {
  const type = registry.getMessage(typeName);
  if (type === undefined) {
    throw new ScenarioFailure(`there is no message ${typeName}`);
  }
  return type;
}

/** Encoding would put U+FFFD in their place without a word. */
function refuseLoneSurrogates(json: Json): void {
  if (typeof json === "string" && !json.isWellFormed()) {
    throw new ScenarioFailure(`a text with a lone surrogate: ${JSON.stringify(json)}`);
  }
  if (typeof json === "object" && json !== null) {
    const members = isObject(json) ? Object.entries(json).flat() : json;
    members.forEach(refuseLoneSurrogates);
  }
}
