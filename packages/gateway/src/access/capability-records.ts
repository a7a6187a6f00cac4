import { sha256Hex } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { Clock } from "../base/ports.js";
import type { KeyedStore, RowName, StoredRow } from "../store/keyed-store.js";
import type { TicketSeal } from "./ticket-seal.js";

/** The partition of the records in the keyed store. */
export const CAPABILITY_RECORDS = "capabilities";

/** A capability that an operator issued here; times are in seconds. */
export type CapabilityRecord = {
  readonly id: string;
  readonly agent: string;
  readonly session?: string;
  readonly principal?: string;
  readonly scopes: readonly string[];
  readonly max_events?: number;
  readonly expires_at: number;
  readonly issued_at: number;
  readonly operator: string;
  /** The issuer that signed it, under which its events are counted. */
  readonly issuer: string;
};

/** A token that was handed to a session. */
export type KeptToken = {
  readonly session: string;
  readonly token: string;
  readonly principal?: string;
};

/** Records of each kind; the oldest go first. */
const MAX_RECORDS = 10_000;
/** How long a record outlives its token, in seconds: an operator wants to see what has just expired. */
const KEEP_SECONDS = 86_400;

/**
 * The capabilities that operators issued, and the tokens that they handed to sessions, until they expire. Tokens are
 * sealed: a reader of the store could use them.
 */
export class CapabilityRecords {
  readonly #store: Pick<KeyedStore, "claim" | "write">;
  readonly #seal: TicketSeal;
  readonly #clock: Clock;

  constructor(store: Pick<KeyedStore, "claim" | "write">, seal: TicketSeal, clock: Clock) {
    this.#store = store;
    this.#seal = seal;
    this.#clock = clock;
  }

  /** Records an issued capability. */
  add(record: CapabilityRecord): Promise<void> {
    const { id, scopes, ...rest } = record;
    return this.#write({ kind: "capability", id, value: { ...rest, scopes: [...scopes] } });
  }

  /** The recorded capabilities, the newest first. */
  async list(): Promise<CapabilityRecord[]> {
    const { rows } = await this.#store.claim([], CAPABILITY_RECORDS);
    return rows
      .filter(({ kind, value }) => kind === "capability" && !this.#isOld(value))
      .map(({ id, value }) => ({ id, ...value }) as CapabilityRecord)
      .toSorted((one, other) => other.issued_at - one.issued_at || (one.id < other.id ? -1 : 1));
  }

  /** Stores a token that was handed to a session, until it expires (seconds). */
  keepHanded(kept: KeptToken, expiresAt: number): Promise<void> {
    const { session, token, principal } = kept;
    const id = sha256Hex(JSON.stringify([session, token, principal ?? null]));
    const sealed = this.#seal.seal({ ...kept });
    const value = {
      sealed,
      at: this.#clock.now(),
      expires_at: Math.min(expiresAt, Number.MAX_SAFE_INTEGER),
    };
    return this.#write({ kind: "handed", id, value });
  }

  /** The stored tokens that have not expired, with the time they were handed over, the oldest first. */
  async readHanded(): Promise<(KeptToken & { readonly at: number })[]> {
    const { rows } = await this.#store.claim([], CAPABILITY_RECORDS);
    const now = this.#clock.now() / 1000;
    return rows
      .filter(({ kind, value }) => kind === "handed" && Number(value["expires_at"]) > now)
      .flatMap(({ value }) => this.#open(value) ?? [])
      .toSorted((one, other) => one.at - other.at);
  }

  #open({ sealed, at }: JsonObject): (KeptToken & { readonly at: number }) | undefined {
    const { session, token, principal } = this.#seal.open(String(sealed)) ?? {};
    if (typeof session !== "string" || typeof token !== "string") return undefined;
    const kept = { session, token, at: Number(at) };
    return typeof principal === "string" ? { ...kept, principal } : kept;
  }

  /** Writes a row, and removes old ones and the oldest above the limit. */
  async #write(row: StoredRow): Promise<void> {
    const { rows } = await this.#store.claim([], CAPABILITY_RECORDS);
    const same = rows.filter(({ kind }) => kind === row.kind);
    const old: RowName[] = rows.filter(({ value }) => this.#isOld(value));
    const over = same.length + 1 - MAX_RECORDS;
    const oldest = over > 0 ? same.toSorted((one, other) => timeOf(one) - timeOf(other)) : [];
    const removed = [...old, ...oldest.slice(0, over)].map(({ kind, id }) => ({ kind, id }));
    await this.#store.write(CAPABILITY_RECORDS, [row], removed);
  }

  #isOld(value: JsonObject): boolean {
    return Number(value["expires_at"]) < this.#clock.now() / 1000 - KEEP_SECONDS;
  }
}

function timeOf({ value }: StoredRow): number {
  return Number(value["issued_at"] ?? value["at"]);
}
