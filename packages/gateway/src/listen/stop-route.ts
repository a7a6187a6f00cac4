import { isCountersignError, parseJson } from "@countersign/core";
import type { Door } from "../access/door.js";
import type { Principal } from "../access/principal.js";
import type { HttpAnswer } from "../clients/http-sink.js";
import { sendProblem } from "../clients/problem.js";
import type { Surroundings } from "../runs/surroundings.js";
import type { RunHandle } from "../sessions/session.js";
import { bearerOf } from "./credentials.js";
import { receiveBody } from "./receive-body.js";
import { refuse } from "./refuse.js";
import type { HttpQuestion } from "./run-route.js";
import { sessionOf } from "./session-id.js";

const MAX_STOP_BYTES = 4096;

/** `POST /ag-ui/stop` with `{ threadId?, runId? }` and the session: cancels what is running. */
export async function serveStop(
  around: Surroundings,
  door: Door,
  question: HttpQuestion,
  answer: HttpAnswer,
  url: URL,
): Promise<void> {
  let principal: Principal;
  try {
    ({ principal } = await door.access.authenticate(bearerOf(question)));
  } catch (error) {
    refuse(around, answer, error);
    return;
  }
  let wanted: { threadId?: unknown; runId?: unknown };
  try {
    const bytes = await receiveBody(question, {
      maxBytes: MAX_STOP_BYTES,
      timeoutMs: door.limits.requestTimeoutMs,
    });
    const value = bytes.byteLength === 0 ? {} : parseJson(bytes);
    if (typeof value !== "object" || value === null) throw new TypeError("no object");
    wanted = value as typeof wanted;
  } catch (error) {
    const detail = isCountersignError(error) ? error.message : "the body could not be read";
    sendProblem(answer, {
      status: 400,
      code: "STOP_UNREADABLE",
      title: "The stop is not valid",
      detail,
    });
    return;
  }
  const sessionId = sessionOf(question, url);
  const candidates =
    sessionId === undefined
      ? around.sessions.openRuns()
      : [...(around.sessions.find(sessionId)?.runs.values() ?? [])];
  // Another's run is not even named: whether it is there is nobody else's business.
  const stopped = candidates.filter(
    (run) => run.principal === principal.id && matches(run, wanted, sessionId),
  );
  for (const run of stopped) run.stop("stop was asked for");
  const body = JSON.stringify({ stopped: stopped.map(({ runId }) => runId) });
  answer.writeHead(200, { "content-type": "application/json" });
  answer.end(body);
}

/** Without a session, a run is stopped only by somebody who knows both its thread and its id. */
function matches(
  run: RunHandle,
  wanted: { threadId?: unknown; runId?: unknown },
  sessionId: string | undefined,
): boolean {
  if (run.status !== "running") return false;
  if (sessionId === undefined && (wanted.threadId === undefined || wanted.runId === undefined)) {
    return false;
  }
  return (
    (wanted.threadId === undefined || wanted.threadId === run.threadId) &&
    (wanted.runId === undefined || wanted.runId === run.runId)
  );
}
