import type { Clock, Journal } from "../base/ports.js";
import type { GatewayConfig } from "../config/config.js";
import type { CountKind, CountStore } from "../quota/count-store.js";
import { openKeyedCounts } from "../quota/keyed-counts.js";
import { openPostgresCounts } from "../quota/postgres-counts.js";
import type { KeyedStore } from "../store/keyed-store.js";
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
};

/** Opens the persistent counts of velocity caps, shared with other gateways if there are any. */
export async function openVelocity(
  config: GatewayConfig,
  parts: VelocityParts,
): Promise<VelocityCaps> {
  const { gateway, journal, telemetry } = parts;
  const listener = (isSilent: boolean): void => {
    if (isSilent) {
      journal.error(
        { code: "VELOCITY_UNCOUNTED" },
        "the store of velocity counts does not respond; only events that are already reserved can be used",
      );
    } else journal.info({}, "the store of velocity counts responds again");
  };
  const store = await openCounts(VELOCITY, config, parts);
  return new VelocityCaps({ store, gateway, listener, figures: telemetry.velocity });
}
