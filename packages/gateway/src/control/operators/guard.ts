import { matchedRoutes } from "hono/route";
import { FailedAttempts } from "../../access/failed-attempts.js";
import { includesRole } from "../../access/operators.js";
import type { Clock, Journal } from "../../base/ports.js";
import type { Telemetry } from "../../telemetry/telemetry.js";
import type { ControlApp, ControlContext } from "../control-env.js";
import { roleOfRoute } from "../openapi.js";
import { problem } from "../problem.js";
import { addressOf, authenticate } from "./authenticate.js";
import type { OperatorAccess } from "./authenticate.js";

/** Counts and logs refused requests, and limits failed attempts. */
export type Refusals = {
  /** Logs a refusal and returns its response. */
  refuse(context: ControlContext, refusal: Refusal): Response;
  /** The response to a wrong or missing credential. */
  unauthenticated(context: ControlContext, facts?: object): Response;
};

type Refusal = {
  readonly status: 401 | 403 | 429;
  readonly code: string;
  readonly title: string;
  readonly facts?: object;
};

const NEEDS_CREDENTIAL =
  "The control plane needs a token of an operator, as Authorization: Bearer TOKEN";

/** Creates the refusals of a control plane; logins and requests share the limit of failed attempts. */
export function createRefusals(
  access: Pick<OperatorAccess, "trustedProxies">,
  parts: { readonly clock: Clock; readonly journal: Journal; readonly telemetry: Telemetry },
): Refusals {
  const tries = new FailedAttempts(parts.clock);
  const refuse: Refusals["refuse"] = (context, { status, code, title, facts = {} }) => {
    parts.telemetry.accessFailures.add(code);
    const address = addressOf(access, context);
    parts.journal.warn(
      { code, plane: "control", ...(address === undefined ? {} : { address }), ...facts },
      "refused",
    );
    return problem(context, status, code, title);
  };
  return {
    refuse,
    unauthenticated: (context, facts = {}) => {
      if (tries.isTooMany()) {
        context.header("retry-after", "60");
        const title = "Too many wrong tries; wait a minute";
        return refuse(context, { status: 429, code: "TOO_MANY_TRIES", title, facts });
      }
      context.header("www-authenticate", 'Bearer realm="countersign control"');
      return refuse(context, { status: 401, code: "UNAUTHORIZED", title: NEEDS_CREDENTIAL, facts });
    },
  };
}

/** Lets a request pass only if its operator has the role that the OpenAPI description names for the route. */
export function guardRoutes(
  app: ControlApp,
  access: OperatorAccess,
  refusals: Refusals,
  isOpen: (context: ControlContext) => boolean,
): void {
  app.use("*", async (context, next) => {
    // Responses are for the operator, not for a cache; capability tokens above all.
    context.header("cache-control", "no-store");
    const route = matchedRoutes(context).find(({ method }) => method !== "ALL");
    const needed = route === undefined ? "viewer" : roleOfRoute(route.method, route.path);
    if (needed === "none" || isOpen(context)) return next();
    const operator = authenticate(access, context);
    if (operator === "unauthenticated") return refusals.unauthenticated(context);
    if (operator === "foreign-page") {
      return refusals.refuse(context, {
        status: 403,
        code: "ERR_CONTROL_ORIGIN",
        title:
          "The request comes from a page of another origin. Fix: use the console of this gateway; behind a proxy, forward the Host header or set control.oidc.redirect to the public address",
      });
    }
    if (operator === "csrf") {
      return refusals.refuse(context, {
        status: 403,
        code: "ERR_CONTROL_CSRF",
        title:
          "A change by a browser session needs the header x-countersign-csrf. Fix: send the value of csrf from GET /v1/me",
      });
    }
    if (!includesRole(operator.role, needed)) {
      return refusals.refuse(context, {
        status: 403,
        code: "ERR_CONTROL_ROLE",
        title: `${operator.name} is ${operator.role}; this needs the role ${needed}. Fix: ask an ${needed === "operator" ? "operator or admin" : "admin"}, or give ${operator.name} the role ${needed}`,
        facts: { operator: operator.name, role: operator.role, needed, path: context.req.path },
      });
    }
    context.set("operator", operator);
    return next();
  });
}
