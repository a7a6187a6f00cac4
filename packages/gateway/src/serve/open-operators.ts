import { openOperators } from "../access/operators.js";
import type { Clock, Journal } from "../base/ports.js";
import type { GatewayConfig } from "../config/config.js";
import { CALLBACK_PATH } from "../config/control.js";
import type { OperatorAccess } from "../control/operators/authenticate.js";
import { createCookies } from "../control/operators/cookies.js";
import type { ControlCookie } from "../control/operators/cookies.js";
import { createOidcLogin } from "../control/operators/oidc-login.js";
import type { OidcLogin } from "../control/operators/oidc-login.js";
import { OperatorSessions } from "../control/operators/operator-sessions.js";
import { createNetworks } from "../http/address.js";
import type { AdminToken } from "../keys/key-directory.js";

/** Opens the sources of operators' credentials. `url` is the address of the control plane, once it listens. */
export function openOperatorAccess(
  { control, limits }: GatewayConfig,
  admin: AdminToken,
  url: () => string,
  parts: { readonly clock: Clock; readonly journal: Journal },
): {
  readonly access: OperatorAccess;
  readonly oidc: OidcLogin | undefined;
  readonly loginCookie: ControlCookie;
} {
  const { tls, oidc } = control;
  const redirect = oidc?.redirect;
  // A proxy in front may have TLS when the gateway has none; the public address tells.
  const cookies = createCookies(tls !== undefined || redirect?.protocol === "https:");
  return {
    access: {
      admin,
      operators: openOperators(control.operators, control.operatorsFile, parts),
      certificates: control.certificates,
      sessions: new OperatorSessions(parts.clock, control.sessions),
      sessionCookie: cookies.session,
      trustedProxies: createNetworks(limits.trustedProxies),
      isTls: tls !== undefined,
      origins: new Set(redirect === undefined ? [] : [redirect.origin]),
    },
    oidc:
      oidc === undefined
        ? undefined
        : createOidcLogin(
            oidc,
            () => new URL(redirect ?? new URL(CALLBACK_PATH, url())),
            parts.clock,
          ),
    loginCookie: cookies.login,
  };
}
