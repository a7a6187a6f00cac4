import type { Clock, Journal } from "../base/ports.js";
import type { GatewayConfig } from "../config/config.js";
import type { CountKind, CountStore } from "../quota/count-store.js";
import { openKeyedCounts } from "../quota/keyed-counts.js";
import { degradeCounts } from "../quota/degrading-counts.js";
import { hasPostgresVelocity, openPostgresCounts } from "../quota/postgres-counts.js";
import type { KeyedStore } from "../store/keyed-store.js";
import type { RedisConnections } from "../store/redis/open-redis.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import { VELOCITY, VelocityCaps } from "../quota/velocity-caps.js";

/** Opens counts in the shared database, or in the keyed store of a single gateway. */
export function openCounts(
  kind: CountKind,
  { receipts: { store: url, origin: name } }: GatewayConfig,
  parts: { readonly gateway: string; readonly ledger: KeyedStore; readonly clock: Clock },
): Promise<CountStore> {
  const { gateway, ledger: store, clock } = parts;
  return url.startsWith("sqlite:")
    ? openKeyedCounts(kind, { store, gateway, clock })
    : openPostgresCounts(kind, { url, name, gateway, clock });
}

/** Options of {@link openVelocity}. */
export type VelocityParts = {
  /** The name of this gateway in the fleet. */
  readonly gateway: string;
  readonly ledger: KeyedStore;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly telemetry: Telemetry;
  readonly redis: RedisConnections | undefined;
};

/**
 * Caps that forget an event within a minute are counted in Redis. If it loses its data, such a cap is closed for a
 * minute; longer caps, which would be closed for hours, and the budgets of tokens stay in PostgreSQL.
 */
const SHORT_MS = 60_000;

/** Opens the persistent counts of velocity caps, shared with other gateways if there are any. */
export async function openVelocity(
  config: GatewayConfig,
  parts: VelocityParts,
): Promise<VelocityCaps> {
  const { gateway, journal, telemetry, redis } = parts;
  const listener = (isSilent: boolean): void => {
    if (isSilent) {
      journal.error(
        { code: "VELOCITY_UNCOUNTED" },
        "the store of velocity counts does not respond; only events that are already reserved can be used",
      );
    } else journal.info({}, "the store of velocity counts responds again");
  };
  const store = await openCounts(VELOCITY, config, parts);
  const options = { store, gateway, listener, figures: telemetry.velocity };
  if (redis === undefined) return new VelocityCaps(options);
  const short = await openShortCounts(config, parts, redis);
  return new VelocityCaps(options, {
    spanMs: SHORT_MS,
    store: short,
    gateway,
    listener,
    figures: telemetry.shortVelocity,
  });
}

async function openShortCounts(
  { receipts }: GatewayConfig,
  { gateway, ledger, clock, journal, telemetry }: VelocityParts,
  redis: RedisConnections,
): Promise<CountStore> {
  const { openRedisCounts } = await import("../quota/redis-counts.js");
  const figures = telemetry.shortVelocity;
  const store = await openRedisCounts({
    redis,
    gateway,
    claimFirst: async () => {
      const row = { kind: "velocity", id: "<redis>", value: { since: clock.now() } } as const;
      const { known } = await ledger.claim([{ partition: VELOCITY.partition, row }]);
      // Counts that PostgreSQL has are not in Redis.
      const url = receipts.store;
      return known[0] === undefined && !(await hasPostgresVelocity({ url, name: receipts.origin }));
    },
    onLoss: () => {
      figures.losses += 1;
      journal.error(
        { code: "VELOCITY_LOST" },
        "Redis does not have all velocity counts; caps of up to a minute stay closed until their windows have passed",
      );
    },
  });
  if (redis.options.whenDown === "refuse") return store;
  return degradeCounts(VELOCITY, {
    store,
    gateway,
    isUp: () => redis.isUp,
    onDegraded: (isDegraded) => {
      figures.isDegraded = isDegraded;
      if (isDegraded) {
        journal.error(
          { code: "VELOCITY_ALONE" },
          "this gateway counts velocity caps of up to a minute alone; several gateways together may exceed a cap",
        );
      } else journal.info({}, "velocity caps are counted over all gateways again");
    },
  });
}
