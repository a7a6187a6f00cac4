import type { JsonObject } from "@countersign/core";
import type { VelocityLimit } from "@countersign/policy";

/** The fields of a velocity cap that a count needs. */
export type WindowLimit = Pick<VelocityLimit, "kind" | "max" | "capacity" | "windowMs">;

/** The `max_events` of a token: a window that never ends. */
export type TotalLimit = {
  readonly kind: "total";
  readonly capacity: number;
  readonly windowMs: number;
  /** The expiry of the token in seconds; its count can be removed after that. */
  readonly expiresAt: number;
};

/** The limit of a count. */
export type CountedLimit = WindowLimit | TotalLimit;

/** Events granted to a gateway, which has not yet reported their use. */
export type Lease = { readonly id: string; readonly gateway: string; readonly events: number };

/** The report on a lease: the used events, and the age of the last use in milliseconds; the rest is returned. */
export type SettledLease = { readonly id: string; readonly used: number; readonly ageMs: number };

/** A gateway's reports and request for one key under one limit. */
export type CountRequest<Limit extends CountedLimit = CountedLimit> = {
  readonly limit: Limit;
  readonly settled: readonly SettledLease[];
  /** Requested events, and the id of their lease; 0 for a report only. */
  readonly wanted: number;
  readonly lease: string;
};

/** A request with the key of its count. */
export type KeyedCountRequest = CountRequest & { readonly key: string };

/** The granted events, and the state of the key afterwards. */
export type CountResult = {
  readonly given: number;
  /** Events in the window and granted, these included. */
  readonly used: number;
  /** Events that other gateways have reserved, or have used and not reported yet. */
  readonly elsewhere: number;
};

/**
 * The shared counts. At most one request per count at a time; responses are in the order of the
 * requests.
 *
 * A resolved `exchange` survives a crash, so that no event is granted twice.
 */
export type CountStore = {
  exchange(requests: readonly KeyedCountRequest[]): Promise<CountResult[]>;
  /** Removes counts that no request can need. */
  sweep(): Promise<void>;
  close(): Promise<void>;
};

/** How a gateway leases events. */
export type LeaseTerms = {
  /** How long a gateway may use granted events, in milliseconds of its own clock from before its request. */
  readonly leaseMs: number;
  /** The largest block; a crash loses at most this many events of each count in use. */
  readonly maxBlock: number;
  /** Events that were unused for this long are returned, in milliseconds. */
  readonly idleMs: number;
  /** How long an event waits for what other gateways may return, in milliseconds. */
  readonly patienceMs: number;
  /** How long an event waits for a store that does not answer, in milliseconds. */
  readonly silenceMs: number;
};

/** The difference between velocity caps and budgets: their rows, and the terms of their leases. */
export type CountKind = {
  /** The partition and the kind of the rows in the keyed store. */
  readonly partition: string;
  readonly rows: "velocity" | "budget";
  readonly terms: LeaseTerms;
  /** Handles a request about the count of a row; `now` is the clock that all gateways share. */
  grant(
    row: JsonObject | undefined,
    request: CountRequest,
    gateway: string,
    now: number,
  ): { readonly row: JsonObject; readonly result: CountResult };
  /** True when no request can need the row. */
  isOld(row: JsonObject, now: number): boolean;
};
