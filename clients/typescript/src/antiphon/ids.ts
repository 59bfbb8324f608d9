import { randomBytes } from "node:crypto";

const VERSION_7 = 0x70;
const VARIANT = 0x80;

/**
 * A fresh id for a write (UUID version 7, canonical text). Send a write again
 * with the same id to learn whether it happened.
 *
 * Such ids grow with time, which makes them the cheapest to store; they serve
 * as message ids too.
 */
export function newRequestId(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes.writeUInt8(VERSION_7 | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(VARIANT | (bytes.readUInt8(8) & 0x3f), 8);
  const digits = bytes.toString("hex");
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20),
  ].join("-");
}
