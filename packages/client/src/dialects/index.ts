import type { JsonObject } from "@countersign/core";
import { createUpgrader, downgradeInput } from "@countersign/wire/dialects";
import type { DialectReader } from "../stream/options.js";

/** A dialect that an agent may speak. */
export type AgentDialect = "auto" | "0.0" | "0.1.0" | "chio";

/**
 * Reads agents that do not speak AG-UI 1.0: its packages before 1.0, the superseded document that called
 * itself 0.1.0 (`UI_RENDER_HINT` included), the event envelope. `auto` reads each stream as what it shows
 * itself to be. Only a 0.1.0 agent is also asked in its own form, which is the last message alone.
 */
export function readDialect(dialect: AgentDialect): DialectReader {
  return {
    body: (input) =>
      dialect === "0.1.0" ? downgradeInput(input, "0.1.0").body : (input as unknown as JsonObject),
    open: ({ threadId, runId }, mintId) => {
      const upgrader = createUpgrader({ dialect, threadId, runId, mintId });
      return (value) => upgrader.push(value).events;
    },
  };
}
