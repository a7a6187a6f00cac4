import type { Hono } from "hono";
import { describeCapability } from "@countersign/capability";
import { isCountersignError } from "@countersign/core";
import type { AllSessions } from "./all-sessions.js";
import type { Clock } from "../ports.js";
import type { OpenTokens } from "../serve/open-tokens.js";
import type { Agents } from "../upstream/targets.js";
import { invalidField } from "./invalid-field.js";
import type { OperatorActs } from "./operator-acts.js";
import { BODY_LIMITS, readBody } from "./request-body.js";

/** Ten minutes: long enough for a dialog, short enough to forget. */
const DEFAULT_SECONDS = 600;

const ISSUE_FIELDS = ["agent", "session_id", "scopes", "expires_in", "max_events", "attach"];

/** Issue and revoke capability tokens, and hand them to a session. */
export function addCapabilityRoutes(
  app: Hono,
  tokens: OpenTokens,
  { sessions, fleet }: Pick<AllSessions, "sessions" | "fleet">,
  agents: Pick<Agents, "names">,
  clock: Clock,
  acts: OperatorActs,
): void {
  /** Keeps a token for a session at every gateway; `partial` where one of them could not be told. */
  const hand = async (
    session: string,
    token: string,
    expiresAt: number,
  ): Promise<{ partial?: true }> => {
    sessions.addToken(session, token);
    try {
      await fleet?.hand(session, token, expiresAt);
      return {};
    } catch (error) {
      if (isCountersignError(error) && error.code.startsWith("ERR_FLEET_"))
        return { partial: true };
      throw error;
    }
  };
  app.post("/v1/capabilities", async (context) => {
    const body = readBody(await context.req.text(), ISSUE_FIELDS);
    const now = Math.floor(clock.now() / 1000);
    const agent = body.text("agent", BODY_LIMITS.name);
    const sessionId = body.optionalText("session_id", BODY_LIMITS.name);
    const maxEvents = body.optionalCount("max_events", BODY_LIMITS.events);
    const isAttached = (body.optionalFlag("attach") ?? true) && sessionId !== undefined;
    // Handed to a session, a token of another agent would only keep its own agent from being heard.
    if (isAttached && !agents.names.includes(agent)) {
      throw invalidField("agent", `one of ${agents.names.join(", ")}, unless attach is false`);
    }
    const { token, claims } = await tokens.issue({
      agent,
      ...(sessionId === undefined ? {} : { sessionId }),
      scopes: body.texts("scopes", { count: BODY_LIMITS.scopes, length: BODY_LIMITS.scope }),
      notBefore: now,
      expiresAt: now + (body.optionalCount("expires_in", BODY_LIMITS.seconds) ?? DEFAULT_SECONDS),
      ...(maxEvents === undefined ? {} : { maxEvents }),
    });
    // Before anybody has it: what no log knows of would be worth a submit all the same.
    await acts.record({
      act: "capability-issue",
      capability: claims.jti,
      agent,
      ...(sessionId === undefined ? {} : { session: sessionId }),
    });
    const told = isAttached ? await hand(sessionId, token, claims.exp) : {};
    return context.json({ token, id: claims.jti, expires_at: claims.exp, ...told }, 201);
  });
  app.post("/v1/capabilities/revoke", async (context) => {
    const id = readBody(await context.req.text(), ["id"]).text("id", BODY_LIMITS.id);
    await tokens.revoke(id);
    await acts.note({ act: "capability-revoke", capability: id });
    return context.json({ revoked: id });
  });
  app.post("/v1/sessions/:id/capabilities", async (context) => {
    const body = readBody(await context.req.text(), ["token"]);
    const token = body.text("token", BODY_LIMITS.token);
    // Only whether it can be read: whether it counts is asked anew for each event.
    const { id, expiresAt } = describeCapability(token);
    const session = context.req.param("id");
    await acts.record({ act: "capability-attach", capability: id, session });
    const told = await hand(session, token, expiresAt);
    return context.json({ accepted: true, id, ...told }, 202);
  });
}
