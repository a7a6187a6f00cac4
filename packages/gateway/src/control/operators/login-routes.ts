import type { Journal } from "../../base/ports.js";
import type { ControlApp, ControlContext } from "../control-env.js";
import { BODY_LIMITS, readBody } from "../request-body.js";
import { addressOf, credentialOf, isOwnPage } from "./authenticate.js";
import type { OperatorAccess } from "./authenticate.js";
import type { ControlCookie } from "./cookies.js";
import type { Refusals } from "./guard.js";
import { loginPage } from "./login-page.js";
import type { OidcLogin } from "./oidc-login.js";
import type { Credential, OperatorSession } from "./operator-sessions.js";

/** Options of {@link addLoginRoutes}. */
export type LoginOptions = {
  readonly access: OperatorAccess;
  readonly refusals: Refusals;
  readonly journal: Journal;
  readonly oidc: OidcLogin | undefined;
  readonly loginCookie: ControlCookie;
  /** The page after a login. It is fixed: a request cannot choose where a login leads. */
  readonly home: string;
};

/** Login and logout of browsers, and the operator of a request. */
export function addLoginRoutes(app: ControlApp, options: LoginOptions): void {
  const { access, refusals, journal, oidc, loginCookie } = options;
  const { sessions, sessionCookie } = access;
  const openSession = (context: ControlContext, credential: Credential): OperatorSession => {
    const before = sessionCookie.read(context);
    if (before !== undefined) sessions.close(before);
    const { id, session } = sessions.open(credential);
    sessionCookie.write(context, id);
    const { name: operator, method } = credential;
    const address = addressOf(access, context);
    journal.info({ operator, method, role: credential.role(), address }, "operator logged in");
    return session;
  };
  app.get("/v1/login", (context) =>
    context.json({
      methods: oidc === undefined ? ["token"] : ["token", "oidc"],
      ...(oidc === undefined ? {} : { oidc: { name: oidc.name } }),
    }),
  );
  app.post("/v1/login", async (context) => {
    // Otherwise another page could log a browser in under a name of its choice.
    if (!isOwnPage(access, context)) {
      const title = "The login comes from a page of another origin. Fix: use the console";
      return refusals.refuse(context, { status: 403, code: "ERR_CONTROL_ORIGIN", title });
    }
    const token = readBody(await context.req.text(), ["token"]).text("token", BODY_LIMITS.token);
    const credential = credentialOf(access, token);
    const role = credential?.role();
    if (credential === undefined || role === undefined) {
      return refusals.unauthenticated(context, { method: "token", login: true });
    }
    const { csrf } = openSession(context, credential);
    return context.json({ operator: credential.name, role, method: credential.method, csrf });
  });
  app.get("/v1/me", (context) => {
    const { name, role, method, csrf } = context.get("operator");
    return context.json({
      operator: name,
      role,
      method,
      ...(csrf === undefined ? {} : { csrf }),
    });
  });
  app.post("/v1/logout", (context) => {
    const id = sessionCookie.read(context);
    if (id !== undefined) sessions.close(id);
    sessionCookie.remove(context);
    const { name: operator, method, address } = context.get("operator");
    journal.info({ operator, method, address }, "operator logged out");
    return context.body(null, 204);
  });

  const warn = (context: ControlContext, code: string, facts: object): void =>
    journal.warn(
      { code, plane: "control", method: "oidc", address: addressOf(access, context), ...facts },
      "login refused",
    );
  const unavailable = (context: ControlContext, reason: string): Response => {
    warn(context, "LOGIN_UNAVAILABLE", { reason });
    return loginPage(context, 503, {
      title: "The identity provider does not respond",
      reason: `The gateway could not reach it (${reason}).`,
      fix: "try again; if it lasts, run countersign serve --check --while-running at the gateway, or log in with a token.",
    });
  };
  app.get("/v1/login/oidc", async (context) => {
    if (oidc === undefined) return context.notFound();
    const begun = await oidc.start();
    if ("unavailable" in begun) return unavailable(context, begun.unavailable);
    loginCookie.write(context, begun.flow);
    return context.redirect(begun.url.href, 302);
  });
  app.get("/v1/login/oidc/callback", async (context) => {
    if (oidc === undefined) return context.notFound();
    const flow = loginCookie.read(context);
    loginCookie.remove(context);
    const result = await oidc.finish(new URL(context.req.url).search, flow);
    if (result.outcome === "known") {
      const { name, role } = result;
      openSession(context, { name, method: "oidc", role: () => role });
      return context.redirect(options.home, 303);
    }
    if (result.outcome === "unavailable") return unavailable(context, result.reason);
    if (result.outcome === "no-role") {
      warn(context, "LOGIN_NO_ROLE", { operator: result.name });
      return loginPage(context, 403, {
        title: "You have no role at this gateway",
        reason: `You are logged in as ${result.name} at the identity provider, but no group of yours has a role here.`,
        fix: "ask an administrator to add you to a group that control.oidc.roles.map names.",
      });
    }
    if (result.outcome === "refused") {
      warn(context, "LOGIN_REFUSED", { reason: result.reason });
      return loginPage(context, 403, {
        title: "The login was refused",
        reason: `The response of the identity provider was not accepted (${result.reason}).`,
        fix: "log in again from the console; an administrator finds the reason in the log of the gateway.",
      });
    }
    warn(context, "LOGIN_STALE", {});
    return loginPage(context, 400, {
      title: "This login is over",
      reason: "It was used before, took longer than ten minutes, or began in another browser.",
      fix: "log in again from the console.",
    });
  });
}
