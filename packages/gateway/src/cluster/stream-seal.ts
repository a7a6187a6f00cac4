import { parseJson } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The number in place of the last event's, for the entry that ends a stream. */
export const END = "end";

/** The events of one entry: the first has this number; `last` is {@link END} in the entry that ends the stream. */
export type EntryRange = { readonly first: number; readonly last: number | typeof END };

/**
 * Encrypts and authenticates what one stream has in Redis.
 *
 * Each stream has a key of its own, so that the random nonces of all streams do not add up. The numbers of the events
 * are authenticated: with write access to Redis an attacker can remove the end of a stream, but not change, move,
 * repeat or replace an event, or give the stream to another principal.
 */
export class StreamSeal {
  readonly #key: Uint8Array;
  readonly #stream: string;

  constructor(key: Uint8Array, stream: string) {
    this.#key = new Uint8Array(hkdfSync("sha256", key, stream, "countersign stream 1", KEY_BYTES));
    this.#stream = stream;
  }

  sealEvents(range: EntryRange, texts: readonly string[]): Buffer {
    // JSON text has no line break.
    return this.#seal(this.#rangeText(range), texts.join("\n"));
  }

  /** The texts of the events; `undefined` for anything that no gateway of the log wrote at this place. */
  openEvents(range: EntryRange, sealed: Uint8Array): readonly string[] | undefined {
    const opened = this.#open(this.#rangeText(range), sealed);
    if (opened === undefined) return undefined;
    const texts = opened === "" ? [] : opened.split("\n");
    const isWhole = range.last === END || texts.length === range.last - range.first + 1;
    return isWhole ? texts : undefined;
  }

  sealFacts(facts: JsonObject): Buffer {
    return this.#seal("facts", JSON.stringify(facts));
  }

  openFacts(sealed: Uint8Array): JsonObject | undefined {
    const opened = this.#open("facts", sealed);
    return opened === undefined ? undefined : (parseJson(opened) as JsonObject);
  }

  #rangeText({ first, last }: EntryRange): string {
    return `events ${first} ${last}`;
  }

  #seal(place: string, text: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce);
    cipher.setAAD(Buffer.from(`${this.#stream} ${place}`));
    const body = [cipher.update(text, "utf8"), cipher.final()];
    return Buffer.concat([nonce, ...body, cipher.getAuthTag()]);
  }

  #open(place: string, sealed: Uint8Array): string | undefined {
    if (sealed.byteLength < NONCE_BYTES + TAG_BYTES) return undefined;
    try {
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(`${this.#stream} ${place}`));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      const body = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([body, decipher.final()]).toString("utf8");
    } catch {
      // Changed, moved, or sealed under another key.
      return undefined;
    }
  }
}
