import { openOperators } from "../access/operators.js";
import type { OperatorEntry } from "../access/operators.js";
import { SILENT_JOURNAL, SYSTEM_CLOCK } from "../base/ports.js";
import type { Clock } from "../base/ports.js";
import type { OperatorAccess } from "../control/operators/authenticate.js";
import { createCookies } from "../control/operators/cookies.js";
import { OperatorSessions } from "../control/operators/operator-sessions.js";
import { createNetworks } from "../http/address.js";

/** The credentials of a control plane without a gateway: one admin token, and listed operators. */
export function operatorAccess(
  adminToken: string,
  options: { operators?: readonly OperatorEntry[]; clock?: Clock } = {},
): OperatorAccess {
  const { operators = [], clock = SYSTEM_CLOCK } = options;
  return {
    admin: {
      name: "admin-00000000",
      fresh: undefined,
      keep: () => Promise.resolve(),
      matches: (token) => token === adminToken,
    },
    operators: openOperators(operators, undefined, { clock, journal: SILENT_JOURNAL }),
    certificates: new Map(),
    sessions: new OperatorSessions(clock, { idleMs: 60_000, longestMs: 600_000 }),
    sessionCookie: createCookies(false).session,
    trustedProxies: createNetworks([]),
    isTls: false,
    origins: new Set(),
  };
}
