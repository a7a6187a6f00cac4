import type { Hono } from "hono";
import { describeCapability } from "@countersign/capability";
import { CountersignError, parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { Clock } from "../ports.js";
import type { OpenTokens } from "../serve/open-tokens.js";
import type { Sessions } from "../sessions/sessions.js";
import "./errors.js";

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
    const body = readObject(parseJson(await context.req.text()));
    // A mistyped `session_id` would otherwise sign a token for every session.
    refuseUnknown(body, ISSUE_FIELDS);
    const now = Math.floor(clock.now() / 1000);
    const sessionId = optionalText(body, "session_id");
    const { token, claims } = await tokens.issue({
      agent: text(body, "agent"),
      ...(sessionId === undefined ? {} : { sessionId }),
      scopes: texts(body, "scopes"),
      notBefore: now,
      expiresAt: now + (optionalCount(body, "expires_in") ?? DEFAULT_SECONDS),
      ...(body["max_events"] === undefined
        ? {}
        : { maxEvents: optionalCount(body, "max_events") ?? 1 }),
    });
    if (sessionId !== undefined && body["attach"] !== false) sessions.addToken(sessionId, token);
    return context.json({ token, id: claims.jti, expires_at: claims.exp }, 201);
  });
  app.post("/v1/capabilities/revoke", async (context) => {
    const body = readObject(parseJson(await context.req.text()));
    const id = text(body, "id");
    await tokens.revoke(id);
    return context.json({ revoked: id });
  });
  app.post("/v1/sessions/:id/capabilities", async (context) => {
    const body = readObject(parseJson(await context.req.text()));
    const token = text(body, "token");
    // Only whether it can be read: whether it counts is asked anew for each event.
    const { id } = describeCapability(token);
    sessions.addToken(context.req.param("id"), token);
    return context.json({ accepted: true, id }, 202);
  });
}

function readObject(value: JsonValue): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw invalid("body", "a JSON object");
}

function refuseUnknown(body: JsonObject, known: readonly string[]): void {
  if (Object.keys(body).every((field) => known.includes(field))) return;
  throw invalid("body", `an object of ${known.join(", ")} and nothing else`);
}

function text(body: JsonObject, field: string): string {
  const value = optionalText(body, field);
  if (value === undefined) throw invalid(field, "a string");
  return value;
}

function optionalText(body: JsonObject, field: string): string | undefined {
  const value = body[field];
  if (value === undefined) return undefined;
  if (typeof value !== "string" || value === "") throw invalid(field, "a string");
  return value;
}

function texts(body: JsonObject, field: string): string[] {
  const value = body[field];
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
    throw invalid(field, "a list of strings");
  }
  return value as string[];
}

function optionalCount(body: JsonObject, field: string): number | undefined {
  const value = body[field];
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 1) {
    throw invalid(field, "a positive whole number");
  }
  return value;
}

function invalid(field: string, expected: string): CountersignError {
  return new CountersignError("ERR_CONTROL_FIELD", `${field} must be ${expected}`, {
    field,
    expected,
  });
}
