import { createHmac } from "node:crypto";
import { sha256Hex } from "@countersign/core";
import { ANONYMOUS } from "../access/access.js";
import type { Principal } from "../access/access.js";

/** How receipts, lists, traces and log lines show a principal or an address. */
export const IDENTITY_FORMS = ["plain", "hashed", "none"] as const;

/** One of {@link IDENTITY_FORMS}. */
export type IdentityForm = (typeof IDENTITY_FORMS)[number];

/** The client of a run or request as it is shown, in the members of a log entry. */
export type ClientIdentity = {
  /** Absent for an anonymous client. */
  readonly principal?: string;
  readonly client_address?: string;
};

/** The form of each member, and the key of hashes. */
export type IdentityOptions = {
  readonly principal?: IdentityForm;
  readonly clientAddress?: IdentityForm;
  /** Required where a member is hashed; a query finds hashes only with it. */
  readonly key?: Uint8Array | undefined;
};

/** The name of the key of hashes in the key directory. */
export const IDENTITY_KEY = "identity";

const HASH_DIGITS = 32;
const MAX_NAME = 512;
const SHOWN = 400;

/**
 * Bounds a name for receipts and log lines: issuers choose principals, agents choose tools. A longer one is its
 * beginning and its hash.
 */
export function boundedName(name: string): string {
  if (name.length <= MAX_NAME) return name;
  return `${name.slice(0, SHOWN).replace(/[\uD800-\uDBFF]$/, "")}…${sha256Hex(name).slice(0, 16)}`;
}

/** The keyed hash of a principal or an address: `hmac:` and 128 bits of HMAC-SHA-256. */
export function hashIdentity(key: Uint8Array, text: string): string {
  const digest = createHmac("sha256", key).update(text, "utf8").digest("hex");
  return `hmac:${digest.slice(0, HASH_DIGITS)}`;
}

/** Shows principals and addresses in the form that the configuration chooses. */
export class Identities {
  readonly #principal: IdentityForm;
  readonly #address: IdentityForm;
  readonly #key: Uint8Array | undefined;

  constructor({ principal = "plain", clientAddress = "plain", key }: IdentityOptions = {}) {
    this.#principal = principal;
    this.#address = clientAddress;
    this.#key = key;
  }

  /** The identity of a client; without a principal, of a client that did not authenticate. */
  of(principal: Principal | undefined, address: string | undefined): ClientIdentity {
    const id = principal === undefined || principal.id === ANONYMOUS.id ? undefined : principal.id;
    const name = this.#shown(this.#principal, id);
    const place = this.#shown(this.#address, address);
    return {
      ...(name === undefined ? {} : { principal: name }),
      ...(place === undefined ? {} : { client_address: place }),
    };
  }

  /** The forms in which the log may contain a principal or an address, for queries. */
  formsOf(text: string): readonly string[] {
    return identityForms(text, this.#key);
  }

  #shown(form: IdentityForm, text: string | undefined): string | undefined {
    if (text === undefined || form === "none") return undefined;
    if (form === "plain") return boundedName(text);
    if (this.#key === undefined) throw new TypeError("hashed identities need a key");
    return hashIdentity(this.#key, text);
  }
}

/** A log may contain both forms, because the configuration can change. */
export function identityForms(text: string, key: Uint8Array | undefined): readonly string[] {
  const plain = boundedName(text);
  return key === undefined || text.startsWith("hmac:") ? [plain] : [plain, hashIdentity(key, text)];
}
