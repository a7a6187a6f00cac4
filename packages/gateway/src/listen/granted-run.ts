import { tokenError } from "../access/access.js";
import type { Grant } from "../access/access.js";
import type { Door } from "../access/door.js";
import { ACCESS_EXPIRED } from "../deliver/run-error.js";
import { startRun } from "../runs/start-run.js";
import type { RunRequest, StartedRun } from "../runs/start-run.js";
import type { Surroundings } from "../runs/surroundings.js";
import type { RunHandle } from "../sessions/session.js";

/** Starts a run on the ground of a grant: in a session of its holder, within their bounds, and not for longer. */
export async function startGrantedRun(
  around: Surroundings,
  door: Door,
  grant: Grant,
  request: Omit<RunRequest, "principal">,
): Promise<StartedRun> {
  const { principal } = grant;
  // A body may take its time; the credential was looked at before it.
  if (!grant.isValid()) throw tokenError("expired");
  door.owners.claim(request.sessionId, principal);
  const giveBack = door.runs.take(principal);
  let handle: RunHandle | undefined;
  let isOver = false;
  const stop = (): void => handle?.stop("the credential has expired", ACCESS_EXPIRED);
  const release = door.leases.open(grant, () => {
    isOver = true;
    stop();
  });
  const end = (): void => {
    release();
    giveBack();
  };
  try {
    const started = await startRun(around, {
      ...request,
      principal,
      onStarting: (entered) => {
        handle = entered;
        request.onStarting?.(entered);
        if (isOver) stop();
      },
    });
    started.done.then(end, end);
    return started;
  } catch (error) {
    end();
    throw isOver ? tokenError("expired") : error;
  }
}
