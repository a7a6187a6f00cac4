import { join } from "node:path";
import { BUDGETS } from "../capabilities/budgets/ledger-budgets.js";
import type { GatewayConfig } from "../config/config.js";
import { forgetOld } from "../ledger/forget-old.js";
import type { ThreadLedger } from "../ledger/ledger.js";
import { openPostgresLedger } from "../ledger/postgres/open-postgres-ledger.js";
import { keepRecentThreads } from "../ledger/recent-threads.js";
import { openSqliteLedger } from "../ledger/sqlite/open-sqlite-ledger.js";
import type { Clock } from "../ports.js";

const HOUR_MS = 3_600_000;

/** Opens the ledger beside the receipts: in their directory, or in their database. */
export async function openLedger(config: GatewayConfig, clock: Clock): Promise<ThreadLedger> {
  const { store, origin } = config.receipts;
  const ledger = store.startsWith("sqlite:")
    ? // The lock of the receipts' directory keeps other processes away from it.
      keepRecentThreads(
        await openSqliteLedger({ directory: join(store.slice("sqlite:".length), "ledger"), clock }),
      )
    : await openPostgresLedger({ url: store, name: origin, clock });
  const keepThenForget = async (): Promise<void> => {
    // Capabilities may be spent longer than threads are remembered; each row of theirs has an end of its own.
    await ledger.write(BUDGETS, []);
    await forgetOld(ledger, clock.now(), config.threads.keepMs);
  };
  const forget = (): void => {
    // What is old today is still old in an hour.
    void keepThenForget().catch(() => undefined);
  };
  forget();
  const timer = setInterval(forget, HOUR_MS);
  timer.unref();
  return {
    ...ledger,
    close: async () => {
      clearInterval(timer);
      await ledger.close();
    },
  };
}
