import type { GatewayConfig } from "../config/config.js";
import type { KeyedStore } from "../store/keyed-store.js";
import type { Clock } from "../base/ports.js";
import type { Journal } from "../base/journal.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import { VELOCITY, VelocityCounts } from "../quota/velocity-caps.js";
import { openCounts } from "./open-counts.js";

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
): Promise<VelocityCounts> {
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
  return new VelocityCounts({ store, gateway, listener, figures: telemetry.velocity });
}
