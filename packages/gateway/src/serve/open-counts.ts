import type { Clock } from "../base/ports.js";
import type { GatewayConfig } from "../config/config.js";
import type { CountKind, CountStore } from "../quota/count-store.js";
import { openKeyedCounts } from "../quota/keyed-counts.js";
import { openPostgresCounts } from "../quota/postgres-counts.js";
import type { KeyedStore } from "../store/keyed-store.js";

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
