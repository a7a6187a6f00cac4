import { openConnection } from "../runs/connection.js";
import type { ConnectionFacts } from "../runs/connection.js";
import type { Surroundings } from "../runs/gateway-context.js";

/** Signs that a client was refused for something of which nothing could be read; it leaves no session behind. */
export async function recordUnread(
  around: Surroundings,
  facts: ConnectionFacts,
  error: unknown,
): Promise<void> {
  await around.refusals.record(openConnection(around, facts).inbound("input", ""), error);
  around.sessions.forgetEmpty(facts.sessionId);
}
