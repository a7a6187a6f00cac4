import type { JsonObject, JsonValue } from "@countersign/core";
import {
  canonicalJson,
  CountersignError,
  encodeHex,
  isJsonObject,
  sha256Hex,
} from "@countersign/core";
import { verifyEd25519 } from "@countersign/core/verify";
import { utf8 } from "../receipt/canonical-text.js";
import type { ForeignReceipt } from "./foreign.js";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A receipt of another protocol cannot be imported. */
    ERR_FOREIGN_RECEIPT: { reason: string };
  }
}

/** The paths, as lists of member names, of the values we join on. */
export type ForeignShape = {
  readonly signature?: readonly string[];
  readonly key?: readonly string[];
  readonly id?: readonly string[];
  readonly session_id?: readonly string[];
  readonly agent_id?: readonly string[];
  /** Seconds or milliseconds since the epoch, or an ISO 8601 text. */
  readonly at?: readonly string[];
};

const SHAPE = {
  signature: ["signature"],
  key: ["kernel_key"],
  id: ["id"],
  session_id: ["session_id"],
  agent_id: ["agent_id"],
  at: ["timestamp"],
} as const;
const PROTOCOL = /^[a-z][a-z0-9._-]{0,31}$/;
const MAX_BYTES = 1 << 20;

function refuse(reason: string): CountersignError {
  return new CountersignError("ERR_FOREIGN_RECEIPT", `not an importable receipt: ${reason}`, {
    reason,
  });
}

function at(receipt: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = receipt;
  for (const name of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

function hexBytes(value: JsonValue | undefined, length: number, what: string): Uint8Array {
  const text = typeof value === "string" ? value.replace(/^ed25519:/, "") : "";
  if (text.length !== length * 2 || !/^[0-9a-fA-F]+$/.test(text)) throw refuse(what);
  return Uint8Array.from(Buffer.from(text, "hex"));
}

function without(receipt: JsonObject, path: readonly string[]): JsonObject {
  const [name = "", ...rest] = path;
  const copy: JsonObject = Object.assign(Object.create(null) as JsonObject, receipt);
  const inner = receipt[name];
  if (rest.length === 0) delete copy[name];
  else if (isJsonObject(inner)) copy[name] = without(inner, rest);
  return copy;
}

function milliseconds(value: JsonValue | undefined): number | undefined {
  if (typeof value === "string") {
    const parsed = Date.parse(value);
    return Number.isNaN(parsed) ? undefined : parsed;
  }
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) return undefined;
  // Before the year 5138 seconds have fewer than twelve digits, milliseconds since 1973 more.
  return Math.round(value < 1e11 ? value * 1_000 : value);
}

/**
 * Checks a receipt of another protocol: JSON whose signature covers the canonical JSON of
 * everything else. Session, agent and time are extracted for joins. Valid does not mean trusted:
 * the signer's key is stored, and the reader decides which signers to trust.
 */
export async function importReceipt(
  receipt: JsonValue,
  protocol: string,
  shape: ForeignShape = {},
): Promise<ForeignReceipt> {
  if (!PROTOCOL.test(protocol)) throw new TypeError("a protocol is a short lower-case name");
  if (!isJsonObject(receipt)) throw refuse("not an object");
  const paths = { ...SHAPE, ...shape };
  const whole = canonicalJson(receipt);
  if (whole.length > MAX_BYTES) throw refuse("too large");
  const signature = hexBytes(at(receipt, paths.signature), 64, "signature");
  const key = hexBytes(at(receipt, paths.key), 32, "key");
  const body = utf8(canonicalJson(without(receipt, paths.signature)));
  if (!(await verifyEd25519(key, body, signature))) throw refuse("signature does not verify");
  const text = (path: readonly string[]): string | undefined => {
    const value = at(receipt, path);
    return typeof value === "string" ? value : undefined;
  };
  const id = text(paths.id);
  const session = text(paths.session_id);
  const agent = text(paths.agent_id);
  const time = milliseconds(at(receipt, paths.at));
  return {
    hash: sha256Hex(whole),
    protocol,
    ...(id === undefined ? {} : { id }),
    ...(session === undefined ? {} : { session_id: session }),
    ...(agent === undefined ? {} : { agent_id: agent }),
    ...(time === undefined ? {} : { at: time }),
    signer: `ed25519:${encodeHex(key)}`,
    receipt,
  };
}
