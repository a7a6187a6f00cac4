import { tokenError } from "../access/access.js";
import type { Grant } from "../access/access.js";
import type { AccessControl } from "./access-control.js";
import type { OpenGrant } from "../access/open-grants.js";
import { ACCESS_EXPIRED } from "../outbound/deliver/run-error.js";
import { startRun } from "../runs/start-run.js";
import type { RunRequest, StartedRun } from "../runs/start-run.js";
import type { GatewayContext } from "../runs/gateway-context.js";
import type { RunHandle } from "../sessions/sessions.js";

/**
 * Starts a run under a grant: in a session of its holder, within the holder's limits, and no longer than the grant is
 * valid.
 */
export async function startGrantedRun(
  context: GatewayContext,
  accessControl: AccessControl,
  grant: Grant,
  request: Omit<RunRequest, "principal" | "granted" | "sessionClaim" | "threadScope"> & {
    /** Whether the client chose the session id. */
    readonly isNamed: boolean;
  },
): Promise<StartedRun> {
  // The body may have taken a while to arrive; the credential was checked before it.
  if (!grant.isValid()) throw tokenError("expired");
  const { sessionId, isNamed } = request;
  const sessionClaim = isNamed
    ? accessControl.owners.prepareClaim(sessionId, grant.principal)
    : undefined;
  if (!isNamed) accessControl.owners.rememberOwn(sessionId, grant.principal);
  const granted = new GrantedRun(accessControl, grant);
  try {
    return await startRun(context, {
      ...request,
      principal: grant.principal,
      sessionClaim,
      // A session that the gateway generated ends with its request or socket; the threads of its client must outlive it.
      threadScope: isNamed ? sessionId : NO_SESSION,
      granted,
      onStarting: (handle) => {
        request.onStarting?.(handle);
        granted.begin(handle);
      },
    });
  } catch (error) {
    granted.close();
    throw granted.isExpired ? tokenError("expired") : error;
  }
}

/** The scope of the threads of all clients without a session; no session has an empty id. */
const NO_SESSION = "";

/** A run slot and an open grant. It lives as long as the stream, so it holds no reference to the request. */
class GrantedRun implements OpenGrant {
  readonly grant: Grant;
  isExpired = false;
  readonly #accessControl: AccessControl;
  readonly #release: () => void;
  #handle: RunHandle | undefined;

  constructor(accessControl: AccessControl, grant: Grant) {
    this.grant = grant;
    this.#accessControl = accessControl;
    this.#release = accessControl.runs.take(grant.principal);
    accessControl.openGrants.add(this);
  }

  begin(handle: RunHandle): void {
    this.#handle = handle;
    if (this.isExpired) this.end();
  }

  end(): void {
    this.isExpired = true;
    this.#handle?.stop("the credential has expired", ACCESS_EXPIRED);
  }

  close(): void {
    this.#accessControl.openGrants.remove(this);
    this.#release();
  }
}
