import { isCountersignError, parseJson } from "@countersign/core";
import type { AccessControl } from "./access-control.js";
import type { Principal } from "../access/access.js";
import type { HttpResponse, HttpRequest } from "./exchange.js";
import { sendProblem } from "./problem.js";
import { stopRuns } from "../sessions/orders.js";
import type { StopOrder, StoppedRun } from "../sessions/orders.js";
import type { GatewayContext } from "../runs/gateway-context.js";
import { bearerOf } from "./credentials.js";
import { receiveBody } from "./receive-body.js";
import { refuse, strangerOf } from "./refuse.js";
import { sessionOf } from "./exchange.js";

const MAX_STOP_BYTES = 4096;

/** `POST /ag-ui/stop` with `{ threadId?, runId? }` and the session: cancels the running runs. */
export async function serveStop(
  context: GatewayContext,
  accessControl: AccessControl,
  request: HttpRequest,
  response: HttpResponse,
  url: URL,
): Promise<void> {
  let principal: Principal;
  let session: string | undefined;
  try {
    session = sessionOf(request, url);
    ({ principal } = await accessControl.access.authenticate(bearerOf(request)));
  } catch (error) {
    refuse(context, response, error, strangerOf(context, accessControl, request, url));
    return;
  }
  let wanted: { threadId?: unknown; runId?: unknown };
  try {
    const bytes = await receiveBody(request, {
      maxBytes: MAX_STOP_BYTES,
      timeoutMs: accessControl.limits.requestTimeoutMs,
    });
    const value = bytes.byteLength === 0 ? {} : parseJson(bytes);
    if (typeof value !== "object" || value === null) throw new TypeError("no object");
    wanted = value as typeof wanted;
  } catch (error) {
    const detail = isCountersignError(error) ? error.message : "the body could not be read";
    sendProblem(response, {
      status: 400,
      code: "STOP_UNREADABLE",
      title: "Invalid stop request",
      detail,
    });
    return;
  }
  const { threadId: thread, runId: run } = wanted;
  const isReadable = [thread, run].every((id) => id === undefined || typeof id === "string");
  // The response does not reveal whether another principal's run exists.
  const stopped = isReadable
    ? await stopAnywhere(context, {
        ...(session === undefined ? {} : { session }),
        ...(thread === undefined ? {} : { thread: thread as string }),
        ...(run === undefined ? {} : { run: run as string }),
        principal: principal.id,
      })
    : [];
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ stopped: stopped.map((one) => one.run) }));
}

/** Stops runs at every gateway: a load balancer may send a stop to any of them, and a session may have runs at several. */
export async function stopAnywhere(
  { sessions, stopElsewhere }: GatewayContext,
  order: StopOrder,
): Promise<readonly StoppedRun[]> {
  const here = stopRuns(sessions, order, "stop was asked for");
  const isFound = order.run !== undefined && here.length > 0;
  if (isFound || stopElsewhere === undefined) return here;
  if (order.session === undefined && (order.thread === undefined || order.run === undefined)) {
    return here;
  }
  // A run that no gateway confirmed was not stopped, and is not named.
  const answers = await stopElsewhere(order).catch(() => []);
  return [...here, ...answers.flatMap((one) => one.stopped)];
}
