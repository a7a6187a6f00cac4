import { Hono } from "hono";
import type { Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { isIP } from "node:net";
import { isCountersignError } from "@countersign/core";
import type { ReplaceResult } from "@countersign/policy";
import { FailedAttempts } from "../access/failed-attempts.js";
import type { Fleet } from "../cluster/fleet.js";
import type { AdminToken } from "../keys/key-directory.js";
import type { ControlledGateway, OpenPolicy } from "./ports.js";
import type { OpenReceipts } from "./ports.js";
import type { OpenTokens } from "./ports.js";
import { EXPOSITION_TYPE } from "../telemetry/exposition.js";
import { addCapabilityRoutes } from "./capability-routes.js";
import type { ConsoleFiles } from "./console-files.js";
import { addConsoleRoutes } from "./console-routes.js";
import { addExplainRoute } from "./explain-route.js";
import { addFeedRoute } from "./feed-stream.js";
import { CONTROL_API } from "./openapi.js";
import { createOperatorActs } from "./operator-acts.js";
import { addPolicyRoutes } from "./policy-routes.js";
import { problem } from "./problem.js";
import { addReceiptRoutes } from "./receipt-routes.js";
import { addSessionRoutes } from "./session-routes.js";

/** Options of {@link createControlApp}. */
export type ControlOptions = {
  readonly gateway: ControlledGateway;
  readonly receipts: OpenReceipts;
  readonly policy: OpenPolicy;
  readonly tokens: OpenTokens;
  readonly admin: AdminToken;
  /** The name of this gateway in the fleet. */
  readonly gatewayName: string;
  readonly fleet: Fleet | undefined;
  /** Reloads the policy at an operator's request. */
  reloadPolicy(): ReplaceResult;
  /** Renders the metrics. */
  metrics(): Promise<string>;
  readonly isMetricsPublic: boolean;
  /** The configured host of the control plane. */
  readonly host: string;
  /** The web console; `undefined` if it is turned off or was not built. */
  readonly console?: ConsoleFiles | undefined;
  /** The body of `/v1/status`. */
  status(): Promise<object>;
};

/** Largest request body of the control plane. */
const MAX_BODY_BYTES = 256 * 1024;

const STORE_CODES = /^ERR_(STORE|SIGN|LOG|LEDGER|REVOCATIONS|FLEET)_/u;

/**
 * An entry beyond the end of the log is missing, not an error: clients that mirror the log request whole tiles first.
 */
function statusOf(code: string): 400 | 404 | 409 | 503 {
  if (code === "ERR_CONTROL_SESSION_OWNER") return 409;
  if (code === "ERR_STORE_RANGE") return 404;
  return STORE_CODES.test(code) ? 503 : 400;
}

/**
 * The operators' API. Every path except the console's needs the admin token; `/metrics` does too unless the
 * configuration makes it public.
 */
export function createControlApp(options: ControlOptions): Hono {
  const { gateway, receipts, policy, tokens, admin } = options;
  const { agents, sessions, feed, clock, journal, telemetry } = gateway.context;
  const app = new Hono();
  const tries = new FailedAttempts(clock);
  const note = (code: string): void => {
    telemetry.accessFailures.add(code);
    journal.warn({ code, plane: "control" }, "refused");
  };

  if (options.console !== undefined) addConsoleRoutes(app, options.console);
  app.use("*", async (context, next) => {
    const isOpen =
      context.req.path === "/metrics" &&
      options.isMetricsPublic &&
      isOurName(context, options.host);
    // Responses are for the operator, not for a cache; capability tokens above all.
    context.header("cache-control", "no-store");
    if (isOpen || isAdmin(context, admin)) return next();
    if (tries.isTooMany()) {
      note("TOO_MANY_TRIES");
      context.header("retry-after", "60");
      return problem(context, 429, "TOO_MANY_TRIES", "Too many wrong tries; wait a minute");
    }
    note("UNAUTHORIZED");
    context.header("www-authenticate", 'Bearer realm="countersign control"');
    return problem(
      context,
      401,
      "UNAUTHORIZED",
      "The control plane needs the admin token, as Authorization: Bearer TOKEN",
    );
  });
  app.use(
    "*",
    bodyLimit({
      maxSize: MAX_BODY_BYTES,
      onError: (context) => {
        // The rest of the body is never read, so the connection cannot be reused.
        context.header("connection", "close");
        return problem(context, 413, "BODY_TOO_LARGE", "The request is too large");
      },
    }),
  );
  app.onError((error, context) => {
    if (!isCountersignError(error)) {
      return problem(context, 500, "INTERNAL", "The request could not be handled");
    }
    return problem(context, statusOf(error.code), error.code, error.message);
  });
  app.notFound((context) => problem(context, 404, "NOT_FOUND", "There is nothing here"));

  app.get("/v1/status", async (context) => context.json(await options.status()));
  app.get("/v1/openapi.json", (context) => context.json(CONTROL_API));
  app.get("/metrics", async (context) =>
    context.text(await options.metrics(), 200, { "content-type": EXPOSITION_TYPE }),
  );
  const all = { sessions, gateway: options.gatewayName, fleet: options.fleet };
  const acts = createOperatorActs(gateway.context, admin.name);
  options.fleet?.signWith((operator, stopped) =>
    createOperatorActs(gateway.context, operator).recordStopped(stopped),
  );
  const ownerOf = (session: string): Promise<string | undefined> => gateway.ownerOf(session);
  addSessionRoutes(app, all, acts, ownerOf);
  addCapabilityRoutes(app, tokens, { ...all, agents, clock, acts, ownerOf });
  addFeedRoute(app, feed);
  addReceiptRoutes(app, receipts);
  addExplainRoute(app);
  addPolicyRoutes(app, policy, receipts.store, options.reloadPolicy, acts);
  return app;
}

/**
 * Whether a request without a token uses a host name that an attacker cannot control. A page whose name now resolves
 * to this machine could read the response (DNS rebinding). An attacker cannot make an IP address, or a name without a
 * dot, resolve here.
 */
function isOurName(context: Context, ours: string): boolean {
  const host = (context.req.header("host") ?? "").toLowerCase();
  const name = host.replace(/:\d*$/u, "").replace(/^\[(.*)\]$/u, "$1");
  return isIP(name) !== 0 || !name.includes(".") || name === ours.toLowerCase();
}

function isAdmin(context: Context, admin: AdminToken): boolean {
  const [scheme, token] = (context.req.header("authorization") ?? "").split(" ");
  return scheme?.toLowerCase() === "bearer" && token !== undefined && admin.matches(token);
}
