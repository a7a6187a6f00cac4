import type { RedisConnections } from "../store/redis/open-redis.js";

const RENEW_MS = 1000;
/** A gateway whose event loop stands still for that long counts as dead. */
const LIFE_MS = 4000;
/** How long a lease must be missing: a Redis that restarts brings the leases of a moment ago back as expired. */
const MISSING_MS = 2 * RENEW_MS;
/** How long a look at a lease is used for all streams of its gateway. */
const FRESH_MS = 400;

type Seen = { readonly at: number; readonly missingSince: number | undefined };

/** Shows the other gateways that this one is alive, and whether they are. */
export class GatewayLease {
  readonly #redis: RedisConnections;
  readonly #gateway: string;
  readonly #seen = new Map<string, Seen>();
  #timer: NodeJS.Timeout | undefined;

  constructor(redis: RedisConnections, gateway: string) {
    this.#redis = redis;
    this.#gateway = gateway;
  }

  start(): void {
    void this.#renew();
  }

  /** Whether a gateway is known to be gone. Without an answer it is not. */
  async isGone(gateway: string): Promise<boolean> {
    const now = performance.now();
    const seen = this.#seen.get(gateway);
    if (seen !== undefined && now - seen.at < FRESH_MS) return isMissingLong(seen);
    if (this.#seen.size > MAX_SEEN) this.#seen.clear();
    const isThere = await this.isAlive(gateway).catch(() => undefined);
    // While Redis is down no lease can be renewed.
    const missingSince = isThere === false ? (seen?.missingSince ?? now) : undefined;
    const next = { at: now, missingSince };
    this.#seen.set(gateway, next);
    return isMissingLong(next);
  }

  /** Whether the lease of a gateway is there now. */
  async isAlive(gateway: string): Promise<boolean> {
    return Number(await this.#redis.command("EXISTS", this.#key(gateway))) === 1;
  }

  /** Withdraws the lease: the streams of this gateway have ended. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#redis.command("DEL", this.#key(this.#gateway)).catch(() => undefined);
  }

  async #renew(): Promise<void> {
    this.#timer = setTimeout(() => void this.#renew(), RENEW_MS);
    this.#timer.unref();
    await this.#redis
      .command("SET", this.#key(this.#gateway), "1", "PX", LIFE_MS)
      .catch(() => undefined);
  }

  #key(gateway: string): string {
    return this.#redis.key(`gateway/${gateway}`, "lease");
  }
}

/** Gateways whose leases are remembered; an older one is read again. */
const MAX_SEEN = 1000;

function isMissingLong({ at, missingSince }: Seen): boolean {
  return missingSince !== undefined && at - missingSince >= MISSING_MS;
}
