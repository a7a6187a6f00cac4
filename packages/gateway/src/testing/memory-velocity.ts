import type { VelocityLimit } from "@countersign/policy";
import type {
  CountRequest,
  CountResult,
  CountStore,
  KeyedCountRequest,
  WindowLimit,
} from "../quota/count-store.js";
import { grantVelocity } from "../quota/velocity-caps.js";
import type { VelocityCount } from "../quota/velocity-caps.js";

/** A limit of sixteen events a minute in a session, of any kind. */
export const FEW: VelocityLimit = {
  id: "few",
  scope: "session",
  kind: "window",
  max: 16,
  capacity: 16,
  windowMs: 60_000,
  match: () => true,
};

/** Counts in memory for several gateways of one test, by the test's clock. */
export class MemoryVelocity {
  readonly counts = new Map<string, VelocityCount>();
  /** The requests so far, each with its gateway. */
  readonly asked: (KeyedCountRequest & { readonly gateway: string })[] = [];
  isAway = false;
  /** Milliseconds until a request to the silent store fails, as when packets are dropped. */
  silenceMs = 0;
  /** The batch sizes of the exchanges that found the store silent. */
  readonly missed: number[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Handles requests at once. */
  respond(gateway: string, requests: readonly KeyedCountRequest[]): CountResult[] {
    return requests.map((request) => {
      this.asked.push({ ...request, gateway });
      const before = this.counts.get(request.key);
      const asked = request as CountRequest<WindowLimit>;
      const { count, result } = grantVelocity(before, asked, gateway, this.#now());
      // Serialized as a row would be.
      this.counts.set(request.key, JSON.parse(JSON.stringify(count)) as VelocityCount);
      return result;
    });
  }

  /** The store of one gateway. */
  of(gateway: string): CountStore {
    return {
      exchange: async (requests) => {
        if (this.isAway) {
          this.missed.push(requests.length);
          const { silenceMs } = this;
          if (silenceMs > 0) await new Promise((resolve) => setTimeout(resolve, silenceMs));
          throw new Error("away");
        }
        return this.respond(gateway, requests);
      },
      sweep: async () => {},
      close: async () => {},
    };
  }
}
