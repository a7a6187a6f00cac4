import { openConnection } from "../runs/connection.js";
import type { ConnectionFacts } from "../runs/connection.js";
import type { GatewayContext } from "../runs/gateway-context.js";

/** Signs a refusal of a request that could not be parsed; it creates no session. */
export async function recordUnreadRequest(
  context: GatewayContext,
  facts: ConnectionFacts,
  error: unknown,
): Promise<void> {
  await context.refusals.record(openConnection(context, facts).inbound("input", ""), error);
  context.sessions.forgetEmpty(facts.sessionId);
}
