import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { ControlContext } from "../control-env.js";

/** A cookie of the control plane. */
export type ControlCookie = {
  read(context: ControlContext): string | undefined;
  write(context: ControlContext, value: string): void;
  remove(context: ControlContext): void;
};

/** Seconds that a login at the identity provider may take. */
export const LOGIN_SECONDS = 600;

/** The cookies of the control plane. With `isSecure`, browsers send them over TLS only. */
export function createCookies(isSecure: boolean): {
  readonly session: ControlCookie;
  readonly login: ControlCookie;
} {
  const common = { httpOnly: true, secure: isSecure, path: "/" } as const;
  const prefix = isSecure ? "host" : undefined;
  const create = (name: string, rest: object): ControlCookie => ({
    read: (context) => getCookie(context, name, prefix),
    write: (context, value) =>
      setCookie(context, name, value, { ...common, ...rest, ...(prefix && { prefix }) }),
    remove: (context) => {
      deleteCookie(context, name, { ...common, ...rest, ...(prefix && { prefix }) });
    },
  });
  return {
    session: create("countersign-session", { sameSite: "Strict" }),
    // The provider redirects back from its own site: a browser sends a Strict cookie only from ours.
    login: create("countersign-login", { sameSite: "Lax", maxAge: LOGIN_SECONDS }),
  };
}
