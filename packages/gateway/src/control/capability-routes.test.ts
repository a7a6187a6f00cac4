import { Hono } from "hono";
import { expect, test } from "vitest";
import type { OpenTokens } from "../serve/open-tokens.js";
import type { Sessions } from "../sessions/sessions.js";
import { addCapabilityRoutes } from "./capability-routes.js";

function routes(): { app: Hono; issued: unknown[] } {
  const issued: unknown[] = [];
  const tokens = {
    issue: async (request: unknown) => {
      issued.push(request);
      return { token: "token", claims: { jti: "cap_1", exp: 1 } };
    },
  } as unknown as OpenTokens;
  const sessions = { addToken: () => undefined } as unknown as Sessions;
  const app = new Hono();
  app.onError((error, context) => context.text(error.message, 400));
  addCapabilityRoutes(app, tokens, sessions, { now: () => 0 } as never);
  return { app, issued };
}

const asked = { agent: "support", scopes: ["ui:alert:toast"] };

test("a field that is not known signs nothing, so a mistyped session_id never opens every session", async () => {
  const { app, issued } = routes();
  const body = JSON.stringify({ ...asked, session: "s1" });
  const answer = await app.request("/v1/capabilities", { method: "POST", body });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain("session_id");
  expect(issued).toEqual([]);
});

test("a token for one session is issued for that session", async () => {
  const { app, issued } = routes();
  const body = JSON.stringify({ ...asked, session_id: "s1", expires_in: 5 });
  const answer = await app.request("/v1/capabilities", { method: "POST", body });
  expect(answer.status).toBe(201);
  expect(issued).toEqual([{ ...asked, sessionId: "s1", notBefore: 0, expiresAt: 5 }]);
});
