import type { CountResult, CountRequest } from "./count.js";

/** A request with the key of its count. */
export type KeyedCountRequest = CountRequest & { readonly key: string };

/**
 * The shared counts. At most one request per count at a time; responses are in the order of the
 * requests.
 */
export type VelocityStore = {
  exchange(requests: readonly KeyedCountRequest[]): Promise<CountResult[]>;
  /** Removes counts that are empty. */
  sweep(): Promise<void>;
  close(): Promise<void>;
};
