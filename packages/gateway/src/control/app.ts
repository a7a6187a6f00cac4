import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { isCountersignError } from "@countersign/core";
import { includesRole } from "../access/operators.js";
import type { Fleet } from "../cluster/fleet.js";
import type { ControlledGateway, OpenPolicy } from "./ports.js";
import type { OpenEvidence, OpenReceipts } from "./ports.js";
import type { OpenTokens } from "./ports.js";
import { EXPOSITION_TYPE } from "../telemetry/exposition.js";
import { addAgentRoutes } from "./agent-routes.js";
import { addCapabilityRoutes } from "./capability-routes.js";
import type { ConsoleFiles } from "./console-files.js";
import { addConsoleRoutes } from "./console-routes.js";
import { addEvidenceRoutes } from "./evidence-routes.js";
import { addExplainRoute } from "./explain-route.js";
import { addFeedRoute } from "./feed-stream.js";
import { CONTROL_API } from "./openapi.js";
import { isOurName } from "../http/host-name.js";
import type { ControlApp, ControlContext, ControlEnv, ShownPrincipal } from "./control-env.js";
import { createOperatorActs } from "./operator-acts.js";
import type { OperatorActs } from "./operator-acts.js";
import type { OperatorAccess } from "./operators/authenticate.js";
import type { ControlCookie } from "./operators/cookies.js";
import { createRefusals, guardRoutes } from "./operators/guard.js";
import { addLoginRoutes } from "./operators/login-routes.js";
import type { OidcLogin } from "./operators/oidc-login.js";
import type { PolicyChanges } from "./policy-changes.js";
import type { PolicyHistory } from "./policy-history.js";
import { addPolicyRoutes } from "./policy-routes.js";
import { problem } from "./problem.js";
import { addReceiptRoutes } from "./receipt-routes.js";
import { addSessionRoutes } from "./session-routes.js";

/** Options of {@link createControlApp}. */
export type ControlOptions = {
  readonly gateway: ControlledGateway;
  readonly receipts: OpenReceipts;
  /** `undefined` where it is off. */
  readonly evidence: OpenEvidence | undefined;
  readonly policy: OpenPolicy;
  readonly tokens: OpenTokens;
  /** The sources of operators' credentials. */
  readonly access: OperatorAccess;
  /** Login at an identity provider; `undefined` if none is configured. */
  readonly oidc?: OidcLogin | undefined;
  readonly loginCookie: ControlCookie;
  /** The name of this gateway in the fleet. */
  readonly gatewayName: string;
  readonly fleet: Fleet | undefined;
  /** Changes the policy at an operator's request. */
  readonly policyChanges: PolicyChanges;
  readonly policyHistory: PolicyHistory;
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

const CONFLICTS: ReadonlySet<string> = new Set([
  "ERR_CONTROL_SESSION_OWNER",
  "ERR_CONTROL_POLICY_READ_ONLY",
  "ERR_CONTROL_POLICY_CHANGED",
  "ERR_CONTROL_POLICY_UNKNOWN",
  "ERR_CONTROL_STOP_CHANGED",
]);
const STORE_CODES = /^ERR_(STORE|SIGN|LOG|LEDGER|EVIDENCE|REVOCATIONS|FLEET)_/u;

/**
 * An entry beyond the end of the log is missing, not an error: clients that mirror the log request whole tiles first.
 */
function statusOf(code: string): 400 | 404 | 409 | 410 | 500 | 503 {
  if (CONFLICTS.has(code)) return 409;
  if (code === "ERR_STORE_RANGE") return 404;
  if (code === "ERR_STORE_REMOVED") return 410;
  if (code === "ERR_EVIDENCE_DAMAGED" || code === "ERR_EVIDENCE_KEY") return 500;
  return STORE_CODES.test(code) ? 503 : 400;
}

/** The operators' API. Every path except the console's and the login needs an operator with the role of the route. */
export function createControlApp(options: ControlOptions): ControlApp {
  const { gateway, receipts, policy, tokens, access } = options;
  const { agents, sessions, feed, clock, journal, telemetry, identities } = gateway.context;
  const app: ControlApp = new Hono<ControlEnv>();
  const refusals = createRefusals(access, { clock, journal, telemetry });

  if (options.console !== undefined) addConsoleRoutes(app, options.console);
  guardRoutes(
    app,
    access,
    refusals,
    (context) =>
      context.req.path === "/metrics" &&
      options.isMetricsPublic &&
      isOurName(context.req.header("host"), [options.host]),
  );
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

  addLoginRoutes(app, {
    access,
    refusals,
    journal,
    oidc: options.oidc,
    loginCookie: options.loginCookie,
    home: options.console === undefined ? "/v1/me" : "/console",
  });
  app.get("/v1/status", async (context) => context.json(await options.status()));
  app.get("/v1/openapi.json", (context) => context.json(CONTROL_API));
  app.get("/metrics", async (context) =>
    context.text(await options.metrics(), 200, { "content-type": EXPOSITION_TYPE }),
  );
  const all = { sessions, gateway: options.gatewayName, fleet: options.fleet };
  const actsOf = (context: ControlContext): OperatorActs =>
    createOperatorActs(gateway.context, context.get("operator"));
  options.fleet?.signWith((name, stopped) =>
    createOperatorActs(gateway.context, { name }).recordStopped(stopped),
  );
  const ownerOf = (session: string): Promise<string | undefined> => gateway.ownerOf(session);
  // Operators name principals in capabilities; viewers see the form of the log.
  const shown: ShownPrincipal = (context, id) =>
    includesRole(context.get("operator").role, "operator")
      ? id
      : identities.of({ id }, undefined).principal;
  addSessionRoutes(app, all, actsOf, ownerOf, shown);
  addCapabilityRoutes(app, tokens, { ...all, agents, clock, actsOf, ownerOf, shown });
  const { containment } = gateway.context;
  addAgentRoutes(app, { ...all, agents, results: telemetry?.agents, containment, actsOf });
  addFeedRoute(app, feed);
  addReceiptRoutes(app, receipts, identities, policy);
  addEvidenceRoutes(app, { evidence: options.evidence, store: receipts.store, actsOf });
  addExplainRoute(app);
  addPolicyRoutes(app, {
    policy,
    changes: options.policyChanges,
    history: options.policyHistory,
    store: receipts.store,
    actsOf,
    gateways: async () => {
      const members = (await options.fleet?.members().catch(() => [])) ?? [];
      return { gateway: options.gatewayName, others: members.map(({ id }) => id) };
    },
  });
  return app;
}
