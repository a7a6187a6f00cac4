import { Hono } from "hono";
import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import { isCountersignError } from "@countersign/core";
import type { OpenReceipts } from "../serve/open-receipts.js";
import type { OpenPolicy } from "../serve/open-policy.js";
import type { AdminToken } from "../keys/key-directory.js";
import type { Gateway } from "../gateway.js";
import type { OpenTokens } from "../serve/open-tokens.js";
import { addCapabilityRoutes } from "./capability-routes.js";
import { filterOf, pageOf, sequenceOf } from "./receipt-query.js";
import { sessionView } from "./session-view.js";

/** What the control plane shows and steers. */
export type ControlOptions = {
  readonly gateway: Gateway;
  readonly receipts: OpenReceipts;
  readonly policy: OpenPolicy;
  readonly tokens: OpenTokens;
  readonly admin: AdminToken;
};

/** The operators' API; every path needs the admin token. */
export function createControlApp(options: ControlOptions): Hono {
  const { gateway, receipts, policy, tokens, admin } = options;
  const { sessions, feed } = gateway.surroundings;
  const app = new Hono();

  app.use("/v1/*", async (context, next) => {
    const [scheme, token] = (context.req.header("authorization") ?? "").split(" ");
    if (scheme?.toLowerCase() !== "bearer" || token === undefined || !admin.matches(token)) {
      return problem(context, 401, "UNAUTHORIZED", "The control plane needs the admin token");
    }
    return next();
  });
  app.onError((error, context) =>
    isCountersignError(error)
      ? problem(context, 400, error.code, error.message)
      : problem(context, 500, "INTERNAL", "The request could not be handled"),
  );
  app.notFound((context) => problem(context, 404, "NOT_FOUND", "There is nothing here"));

  app.get("/v1/sessions", (context) =>
    context.json({ sessions: sessions.list().map(sessionView) }),
  );
  app.get("/v1/sessions/:id", (context) => {
    const session = sessions.find(context.req.param("id"));
    return session === undefined
      ? problem(context, 404, "SESSION_UNKNOWN", "No session of that id is known")
      : context.json(sessionView(session));
  });
  addCapabilityRoutes(app, tokens, sessions, gateway.surroundings.clock);

  app.get("/v1/events", (context) =>
    streamSSE(context, async (stream) => {
      const waiting = [...feed.recent()];
      let wake: (() => void) | undefined;
      const stop = feed.listen((item) => {
        // A watcher that cannot keep up loses the oldest lines, never the gateway's time.
        if (waiting.length >= 1000) waiting.shift();
        waiting.push(item);
        wake?.();
      });
      stream.onAbort(() => {
        stop();
        wake?.();
      });
      while (!stream.aborted) {
        const item = waiting.shift();
        if (item !== undefined) await stream.writeSSE({ data: JSON.stringify(item) });
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    }),
  );

  app.get("/v1/receipts", async (context) => {
    const query = context.req.query();
    return context.json(await receipts.store.query(filterOf(query), pageOf(query)));
  });
  app.get("/v1/receipts/:seq/proof", async (context) =>
    context.text(await receipts.log.proof(sequenceOf(context.req.param("seq")))),
  );
  app.get("/v1/checkpoint", async (context) => context.text(await receipts.log.checkpoint()));

  app.get("/v1/policy", (context) => {
    const { current, issues } = policy.holder;
    return context.json({ name: current.name, hash: current.hash, mode: current.mode, issues });
  });
  app.post("/v1/policy/reload", (context) => {
    const result = policy.reload();
    return result.replaced
      ? context.json({ changed: result.changed, hash: result.policy.hash })
      : context.json({ changed: false, issues: result.issues }, 422);
  });
  return app;
}

function problem(
  context: Context,
  status: 400 | 401 | 404 | 500,
  code: string,
  title: string,
): Response {
  return context.json({ type: `urn:countersign:problem:${code}`, title, status, code }, status, {
    "content-type": "application/problem+json",
  });
}
