import type { Hono } from "hono";
import { describeCapability } from "@countersign/capability";
import type { Clock } from "../ports.js";
import type { OpenTokens } from "../serve/open-tokens.js";
import type { Sessions } from "../sessions/sessions.js";
import { BODY_LIMITS, readBody } from "./request-body.js";

/** Ten minutes: long enough for a dialog, short enough to forget. */
const DEFAULT_SECONDS = 600;

const ISSUE_FIELDS = ["agent", "session_id", "scopes", "expires_in", "max_events", "attach"];

/** Issue and revoke capability tokens, and hand them to a session. */
export function addCapabilityRoutes(
  app: Hono,
  tokens: OpenTokens,
  sessions: Sessions,
  clock: Clock,
): void {
  app.post("/v1/capabilities", async (context) => {
    const body = readBody(await context.req.text(), ISSUE_FIELDS);
    const now = Math.floor(clock.now() / 1000);
    const agent = body.text("agent", BODY_LIMITS.name);
    const sessionId = body.optionalText("session_id", BODY_LIMITS.name);
    const maxEvents = body.optionalCount("max_events", BODY_LIMITS.events);
    const isAttached = body.optionalFlag("attach") ?? true;
    const { token, claims } = await tokens.issue({
      agent,
      ...(sessionId === undefined ? {} : { sessionId }),
      scopes: body.texts("scopes", { count: BODY_LIMITS.scopes, length: BODY_LIMITS.scope }),
      notBefore: now,
      expiresAt: now + (body.optionalCount("expires_in", BODY_LIMITS.seconds) ?? DEFAULT_SECONDS),
      ...(maxEvents === undefined ? {} : { maxEvents }),
    });
    if (sessionId !== undefined && isAttached) sessions.addToken(sessionId, token);
    return context.json({ token, id: claims.jti, expires_at: claims.exp }, 201);
  });
  app.post("/v1/capabilities/revoke", async (context) => {
    const id = readBody(await context.req.text(), ["id"]).text("id", BODY_LIMITS.id);
    await tokens.revoke(id);
    return context.json({ revoked: id });
  });
  app.post("/v1/sessions/:id/capabilities", async (context) => {
    const body = readBody(await context.req.text(), ["token"]);
    const token = body.text("token", BODY_LIMITS.token);
    // Only whether it can be read: whether it counts is asked anew for each event.
    const { id } = describeCapability(token);
    sessions.addToken(context.req.param("id"), token);
    return context.json({ accepted: true, id }, 202);
  });
}
