import { type CompiledMessage, type Part } from "../gen/antiphon/compiler/v1/compiled_message.js";
import {
  type PartChunk,
  type Result,
  type StreamCompileResponse,
} from "../gen/antiphon/compiler/v1/compiler_service.js";
import { type Role } from "../gen/antiphon/message/v1/message.js";
import { ScenarioFailure } from "./failure.js";

/** What the digests of a streamed compilation are over, and what it says they are. */
export interface StreamedCompilation {
  readonly messages: readonly CompiledMessage[];
  readonly systemText?: string | undefined;
  readonly providerRequestJson?: string | undefined;
  readonly messagesDigest: string;
  readonly requestDigest?: string | undefined;
}

/**
 * Puts the frames of a StreamCompile stream together.
 *
 * @throws {ScenarioFailure} They do not make a whole compilation.
 */
export function assemble(frames: Iterable<StreamCompileResponse>): StreamedCompilation {
  const stream = new Assembly();
  for (const frame of frames) {
    stream.add(frame);
  }
  return stream.finish();
}

class Assembly {
  readonly #messages: CompiledMessage[] = [];
  readonly #request: string[] = [];
  #open: OpenMessage | undefined;
  #systemText: string | undefined;
  #last: Result | undefined;

  add({ frame }: StreamCompileResponse): void {
    require(this.#last === undefined, "the compilation goes on after its last result");
    switch (frame?.$case) {
      case "messageStart":
        require(this.#open === undefined, "a compiled message begins within another");
        require(frame.value.index === BigInt(this.#messages.length), "a message is missing");
        this.#open = new OpenMessage(frame.value.role);
        break;
      case "textChunk":
        this.#current().texts.push(frame.value.text);
        break;
      case "partChunk":
        this.#current().addPiece(frame.value);
        break;
      case "messageEnd":
        this.#messages.push(this.#current().message());
        this.#open = undefined;
        break;
      case "requestChunk":
        this.#request.push(frame.value.text);
        break;
      case "result":
        this.#systemText = frame.value.systemText ?? this.#systemText;
        this.#last = frame.value.last ? frame.value : undefined;
        break;
      case undefined:
        throw new ScenarioFailure("the compilation has a frame of an unknown kind");
    }
  }

  finish(): StreamedCompilation {
    const last = this.#last;
    require(last !== undefined && this.#open === undefined, "the compilation has no last result");
    require(last.messageCount ===
      BigInt(
        this.#messages.length,
      ), `${this.#messages.length} compiled messages came of ${last.messageCount}`);
    return {
      messages: this.#messages,
      systemText: this.#systemText,
      providerRequestJson: last.requestDigest === undefined ? undefined : this.#request.join(""),
      messagesDigest: last.messagesDigest,
      requestDigest: last.requestDigest,
    };
  }

  #current(): OpenMessage {
    require(this.#open !== undefined, "the compilation has a chunk outside of a message");
    return this.#open;
  }
}

/** A message whose chunks are arriving. */
class OpenMessage {
  readonly texts: string[] = [];
  readonly #parts: PartChunk[][] = [];

  constructor(readonly role: Role) {}

  addPiece(chunk: PartChunk): void {
    const index = Number(chunk.partIndex);
    if (index === this.#parts.length) {
      this.#parts.push([]);
    }
    const pieces = this.#parts[index];
    require(pieces !== undefined && index === this.#parts.length - 1, "a part comes out of turn");
    pieces.push(chunk);
  }

  message(): CompiledMessage {
    const parts = this.#parts.map(joined);
    return {
      role: this.role,
      content:
        parts.length > 0
          ? { $case: "parts", value: { parts } }
          : { $case: "text", value: this.texts.join("") },
    };
  }
}

/** Makes one part of its pieces. */
function joined(chunks: PartChunk[]): Part {
  const piece = chunks[0]?.piece;
  switch (piece?.$case) {
    case "whole":
      require(chunks.length === 1, "a whole part comes in pieces");
      return piece.value;
    case "imageUrl": {
      const url = chunks.map(urlPiece).join("");
      return { part: { $case: "imageUrl", value: { url, detail: piece.value.detail } } };
    }
    case "text":
      return { part: { $case: "text", value: { text: chunks.map(textPiece).join("") } } };
    case undefined:
      throw new ScenarioFailure("a compiled part is of an unknown kind");
  }
}

function urlPiece({ piece }: PartChunk): string {
  require(piece?.$case === "imageUrl", "the pieces of an image are of several kinds");
  return piece.value.url;
}

function textPiece({ piece }: PartChunk): string {
  require(piece?.$case === "text", "the pieces of a text are of several kinds");
  return piece.value;
}

function require(condition: boolean, message: string): asserts condition {
  if (!condition) {
    throw new ScenarioFailure(message);
  }
}
