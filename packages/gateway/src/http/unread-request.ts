import { openConnection } from "../runs/connection.js";
import type { ConnectionFacts } from "../runs/connection.js";
import type { GatewayContext } from "../runs/gateway-context.js";

/** Signs that a client was refused for something of which nothing could be read; it leaves no session behind. */
export async function recordUnreadRequest(
  context: GatewayContext,
  facts: ConnectionFacts,
  error: unknown,
): Promise<void> {
  await context.refusals.record(openConnection(context, facts).inbound("input", ""), error);
  context.sessions.forgetEmpty(facts.sessionId);
}
