import type { GatewayConfig } from "../config/config.js";
import type { Journal } from "../runs/surroundings.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import { LeasedCounts } from "../velocity/leased-counts.js";
import { openPostgresVelocity } from "../velocity/postgres-velocity.js";

/** Where caps over time are counted with other gateways; nothing where a gateway has its store to itself. */
export async function openVelocity(
  { receipts }: GatewayConfig,
  gateway: string,
  journal: Journal,
  { velocity: figures }: Telemetry,
): Promise<LeasedCounts | undefined> {
  if (receipts.store.startsWith("sqlite:")) return undefined;
  const store = await openPostgresVelocity({
    url: receipts.store,
    name: receipts.origin,
    gateway,
  });
  const listener = (isSilent: boolean): void => {
    if (isSilent) {
      journal.error(
        { code: "VELOCITY_UNCOUNTED" },
        "where events under caps are counted does not answer; what is at hand may be used up",
      );
    } else journal.info({}, "events under caps are counted again");
  };
  return new LeasedCounts({ store, gateway, listener, figures });
}
