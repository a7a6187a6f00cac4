import type { ControlApp, ControlContext, ShownPrincipal } from "./control-env.js";
import { describeCapability } from "@countersign/capability";
import { isCountersignError } from "@countersign/core";
import type { AllSessions } from "./all-sessions.js";
import type { Clock } from "../base/ports.js";
import type { OpenTokens } from "./ports.js";
import type { HandedToken } from "../sessions/sessions.js";
import type { Agents } from "../agent/upstream.js";
import { cutPage } from "./query.js";
import { invalidField } from "./problem.js";
import { BODY_LIMITS, readBody } from "./request-body.js";
import type { OperatorActs } from "./operator-acts.js";
import { findOwner } from "./session-owner.js";

/** Ten minutes: long enough for a dialog, short enough to forget. */
const DEFAULT_SECONDS = 600;

const ISSUE_FIELDS = [
  "agent",
  "session_id",
  "principal",
  "allow_unowned_session",
  "scopes",
  "expires_in",
  "max_events",
  "attach",
];

/** Options of {@link addCapabilityRoutes}. */
export type CapabilityRoutesOptions = Pick<AllSessions, "sessions" | "fleet"> & {
  readonly agents: Pick<Agents, "names">;
  readonly clock: Clock;
  /** Signs for the operator of a request. */
  actsOf(context: ControlContext): OperatorActs;
  /** The principal that owns a session; `undefined` if it has no owner. */
  ownerOf(session: string): Promise<string | undefined>;
  readonly shown: ShownPrincipal;
};

/** Issue and revoke capability tokens, and hand them to a session. */
export function addCapabilityRoutes(
  app: ControlApp,
  tokens: OpenTokens,
  { sessions, fleet, agents, clock, actsOf, ownerOf, shown }: CapabilityRoutesOptions,
): void {
  /** Hands a token to a session at every gateway; `partial` if one of them could not be informed. */
  const handOver = async (
    session: string,
    handed: HandedToken,
    expiresAt: number,
  ): Promise<{ partial?: true }> => {
    // Gateways on one database share such tokens; one with its own store keeps them for its next start.
    if (fleet === undefined) await tokens.records.keepHanded({ session, ...handed }, expiresAt);
    sessions.addToken(session, handed);
    try {
      await fleet?.hand(session, handed, expiresAt);
      return {};
    } catch (error) {
      if (isCountersignError(error) && error.code.startsWith("ERR_FLEET_"))
        return { partial: true };
      throw error;
    }
  };
  app.get("/v1/capabilities", async (context) => {
    const { items, cursor } = cutPage(await tokens.records.list(), context.req.query());
    const remaining = await tokens.remaining(items);
    return context.json({
      items: items.map(({ issuer: _issuer, principal, ...record }) => {
        const left = remaining.get(record.id);
        const name = principal === undefined ? undefined : shown(context, principal);
        return {
          ...record,
          ...(name === undefined ? {} : { principal: name }),
          ...(left === undefined ? {} : { remaining: left }),
          revoked: tokens.isRevoked(record.id),
        };
      }),
      ...(cursor === undefined ? {} : { cursor }),
    });
  });
  app.post("/v1/capabilities", async (context) => {
    const body = readBody(await context.req.text(), ISSUE_FIELDS);
    const now = Math.floor(clock.now() / 1000);
    const agent = body.text("agent", BODY_LIMITS.name);
    const sessionId = body.optionalText("session_id", BODY_LIMITS.name);
    const allowsUnowned = body.optionalFlag("allow_unowned_session") === true;
    const asked = body.optionalText("principal", BODY_LIMITS.principal);
    const maxEvents = body.optionalCount("max_events", BODY_LIMITS.events);
    const isAttached = (body.optionalFlag("attach") ?? true) && sessionId !== undefined;
    // A token of an agent that is not configured here would only take the place of a usable one.
    if (isAttached && !agents.names.includes(agent)) {
      throw invalidField("agent", `one of ${agents.names.join(", ")}, unless attach is false`);
    }
    const grant = {
      scopes: body.texts("scopes", { count: BODY_LIMITS.scopes, length: BODY_LIMITS.scope }),
      notBefore: now,
      expiresAt: now + (body.optionalCount("expires_in", BODY_LIMITS.seconds) ?? DEFAULT_SECONDS),
      ...(maxEvents === undefined ? {} : { maxEvents }),
    };
    const { principal, owner } = await findOwner(ownerOf, {
      session: sessionId,
      principal: asked,
      allowsUnowned,
    });
    const forPrincipal = principal === undefined ? {} : { principal };
    const { token, claims } = await tokens.issue({
      agent,
      ...(sessionId === undefined ? {} : { sessionId }),
      ...forPrincipal,
      ...grant,
    });
    // Recorded before the token is returned: a token without a log entry would still authorise a submit.
    const acts = actsOf(context);
    await acts.record({
      act: "capability-issue",
      capability: claims.jti,
      agent,
      ...(sessionId === undefined ? {} : { session: sessionId }),
      ...forPrincipal,
    });
    await tokens.records.add({
      id: claims.jti,
      agent,
      ...(sessionId === undefined ? {} : { session: sessionId }),
      ...forPrincipal,
      scopes: grant.scopes,
      ...(maxEvents === undefined ? {} : { max_events: maxEvents }),
      expires_at: claims.exp,
      issued_at: now,
      operator: acts.operator,
      issuer: claims.iss,
    });
    const result = isAttached
      ? await handOver(sessionId, { token, ...forPrincipal }, claims.exp)
      : {};
    return context.json(
      {
        token,
        id: claims.jti,
        expires_at: claims.exp,
        ...forPrincipal,
        ...(sessionId === undefined ? {} : { session_owner: owner ?? null }),
        ...result,
      },
      201,
    );
  });
  app.post("/v1/capabilities/revoke", async (context) => {
    const id = readBody(await context.req.text(), ["id"]).text("id", BODY_LIMITS.id);
    await tokens.revoke(id);
    await actsOf(context).note({ act: "capability-revoke", capability: id });
    return context.json({ revoked: id });
  });
  app.post("/v1/sessions/:id/capabilities", async (context) => {
    const body = readBody(await context.req.text(), ["token", "allow_unowned_session"]);
    const token = body.text("token", BODY_LIMITS.token);
    const allowsUnowned = body.optionalFlag("allow_unowned_session") === true;
    // Checks only that it can be decoded: its validity is evaluated for each event.
    const { id, expiresAt, principal: named } = describeCapability(token);
    const session = context.req.param("id");
    const { principal, owner } = await findOwner(ownerOf, {
      session,
      principal: named,
      allowsUnowned,
    });
    const forPrincipal = principal === undefined ? {} : { principal };
    await actsOf(context).record({
      act: "capability-attach",
      capability: id,
      session,
      ...forPrincipal,
    });
    // A token that names no principal is kept for the current owner of the session, not for a later one.
    const result = await handOver(session, { token, ...forPrincipal }, expiresAt);
    const owners = { ...forPrincipal, session_owner: owner ?? null };
    return context.json({ accepted: true, id, ...owners, ...result }, 202);
  });
}
