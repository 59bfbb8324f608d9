/** JSON as the scenarios and the answers have it. */

export type Json = null | boolean | number | string | Json[] | JsonObject;

/** A JSON object; its members stand in their order. */
export interface JsonObject {
  [name: string]: Json;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Makes an object of members, whatever their names: `__proto__` is one like any other. */
export function objectOf(members: Iterable<readonly [string, Json]>): JsonObject {
  return Object.fromEntries<Json>(members);
}

/** The member of that name; undefined where the object has none of its own. */
export function member(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The JSON pointer to a member of what `pointer` points to. */
export function pointerTo(pointer: string, name: string | number): string {
  return `${pointer}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** What a JSON pointer points to; undefined where nothing is there. */
export function valueAt(root: Json, pointer: string): Json | undefined {
  const names = pointer.split("/").slice(1);
  let value: Json | undefined = root;
  for (const escaped of names) {
    const name = escaped.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(value)) {
      value = /^(0|[1-9][0-9]*)$/.test(name) ? value[Number(name)] : undefined;
    } else {
      value = isObject(value) ? member(value, name) : undefined;
    }
  }
  return value;
}
