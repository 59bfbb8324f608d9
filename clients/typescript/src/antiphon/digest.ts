import { createHash, type Hash } from "node:crypto";

import {
  type CompiledCall,
  type CompiledMessage,
  type CompiledResult,
  type Part,
} from "../gen/antiphon/compiler/v1/compiled_message.js";
import {
  type ContentBlock,
  type Image,
  type Opaque,
  type Thinking,
} from "../gen/antiphon/message/v1/content_block.js";
import { Role } from "../gen/antiphon/message/v1/message.js";

const DOMAIN = "antiphon.compiled.v1\0";

/**
 * The digest of compiled messages: proof of what the model saw. Equal to
 * `CompileResponse.messagesDigest`, whose comment in the proto defines it.
 *
 * @param messages The compiled messages, in order.
 * @param systemText NATIVE's system text, which enters before them.
 * @returns Lower-case hexadecimal SHA-256.
 * @throws {Error} A message has content that this version does not know.
 */
export function messagesDigest(messages: Iterable<CompiledMessage>, systemText?: string): string {
  const form = new CanonicalForm();
  if (systemText !== undefined) {
    form.text(Role.ROLE_SYSTEM, systemText);
  }
  for (const message of messages) {
    form.message(message);
  }
  return form.digest();
}

/** First byte of each kind of part. */
const enum Kind {
  TEXT = 1,
  IMAGE_URL = 2,
  THINKING = 3,
  CALL = 4,
  RESULT = 5,
  IMAGE = 6,
  OPAQUE = 7,
  JSON = 8,
}

/** Feeds the canonical form of messages to a hash. */
class CanonicalForm {
  readonly #hash: Hash = createHash("sha256").update(DOMAIN);

  digest(): string {
    return this.#hash.digest("hex");
  }

  message({ role, content }: CompiledMessage): void {
    switch (content?.$case) {
      case "text":
        this.text(role, content.value);
        break;
      case "parts":
        this.#byte(role);
        this.#byte(2);
        this.#count(content.value.parts.length);
        content.value.parts.forEach((part) => {
          this.#part(part);
        });
        break;
      case undefined:
        throw new Error("a compiled message has no content that this version knows");
    }
  }

  text(role: Role, text: string): void {
    this.#byte(role);
    this.#byte(1);
    this.#string(text);
  }

  #part({ part }: Part): void {
    switch (part?.$case) {
      case "imageUrl":
        this.#byte(Kind.IMAGE_URL);
        this.#string(part.value.url);
        this.#byte(part.value.detail);
        break;
      case "toolCall":
        this.#call(part.value);
        break;
      case "toolResult":
        this.#result(part.value);
        break;
      default:
        this.#block(part);
    }
  }

  /** The kinds that a part and a result's block share. */
  #block(block: Part["part"] | ContentBlock["block"]): void {
    switch (block?.$case) {
      case "text":
        this.#byte(Kind.TEXT);
        this.#string(block.value.text);
        break;
      case "thinking":
        this.#thinking(block.value);
        break;
      case "image":
        this.#image(block.value);
        break;
      case "opaque":
        this.#opaque(block.value);
        break;
      case "json":
        this.#byte(Kind.JSON);
        this.#string(block.value.valueJson);
        break;
      default:
        throw new Error(`a compiled part is of an unknown kind: ${block?.$case ?? "none"}`);
    }
  }

  #thinking({ thinking, signature, provider, model }: Thinking): void {
    this.#byte(Kind.THINKING);
    this.#string(thinking);
    this.#optional(signature);
    this.#optional(provider);
    this.#optional(model);
  }

  #call({ id, name, argumentsJson, argumentsText, thoughtSignature }: CompiledCall): void {
    this.#byte(Kind.CALL);
    this.#string(id);
    this.#string(name);
    this.#string(argumentsJson);
    this.#optional(argumentsText);
    this.#optional(thoughtSignature);
  }

  #result({ callId, name, isError, isSynthesized, content }: CompiledResult): void {
    this.#byte(Kind.RESULT);
    this.#string(callId);
    this.#string(name);
    this.#byte(Number(isError));
    this.#byte(Number(isSynthesized));
    this.#count(content.length);
    content.forEach(({ block }) => {
      this.#block(block);
    });
  }

  #image({ mimeType, source, detail }: Image): void {
    this.#byte(Kind.IMAGE);
    this.#string(mimeType);
    if (source?.$case === "data") {
      this.#byte(1);
      this.#length(source.value.byteLength);
      this.#hash.update(source.value);
    } else {
      this.#byte(2);
      this.#string(source?.value ?? "");
    }
    this.#byte(detail ?? 0);
  }

  #opaque({ provider, model, kind, dataJson }: Opaque): void {
    this.#byte(Kind.OPAQUE);
    this.#string(provider);
    this.#string(model);
    this.#string(kind);
    this.#string(dataJson);
  }

  #optional(text: string | undefined): void {
    if (text === undefined) {
      this.#byte(0);
    } else {
      this.#byte(1);
      this.#string(text);
    }
  }

  #string(text: string): void {
    const encoded = Buffer.from(text, "utf8");
    this.#length(encoded.byteLength);
    this.#hash.update(encoded);
  }

  #length(length: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(length));
    this.#hash.update(bytes);
  }

  #count(count: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(count);
    this.#hash.update(bytes);
  }

  #byte(byte: number): void {
    this.#hash.update(Uint8Array.of(byte));
  }
}
