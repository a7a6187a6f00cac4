import { isJsonObject } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { RuntimeAnswer } from "../../agent/upstream.js";
import type { GatewayContext } from "../../runs/gateway-context.js";
import { stopRuns } from "../../sessions/orders.js";
import type { StopOrder } from "../../sessions/orders.js";

/** A stop order as CopilotKit's clients give it: for a thread, and for one run of it if they know which. */
export type ThreadStop = StopOrder & {
  readonly agent: string;
  readonly thread: string;
  readonly principal: string;
};

/**
 * Stops the run of a thread at the runtime, which then ends its stream by itself, as it does without the gateway. Nothing reaches the
 * runtime for a thread on which this principal has no open run.
 */
export async function stopThread(
  context: GatewayContext,
  order: ThreadStop,
  ask: (body: string) => Promise<RuntimeAnswer>,
): Promise<{ status: number; value: JsonObject }> {
  const body = JSON.stringify(order.run === undefined ? {} : { runId: order.run });
  const open = openRuns(context, order);
  if (open.length === 0) {
    const { session, thread, run, principal } = order;
    const isNamed = session !== undefined || run !== undefined;
    const elsewhere =
      isNamed && context.stopElsewhere !== undefined
        ? await context.stopElsewhere({
            thread,
            principal,
            ...(session && { session }),
            ...(run && { run }),
          })
        : [];
    if (elsewhere.every(({ stopped }) => stopped.length === 0)) return NOTHING;
    // The other gateway ends the stream, and its order to the runtime ends the run.
    return { status: 200, value: { stopped: true } };
  }
  const answer = await ask(body).catch(() => undefined);
  if (answer !== undefined && isJsonObject(answer.value) && answer.value["stopped"] === true) {
    return { status: 200, value: stoppedInfo(answer.value) };
  }
  // The runtime does not know the run, or did not answer: the person's order ends at least the stream.
  const { principal, thread } = order;
  for (const { session, run } of open) {
    stopRuns(context.sessions, { session, thread, run, principal }, "stop was asked for");
  }
  return { status: 200, value: { stopped: true } };
}

const NOTHING = {
  status: 200,
  value: { stopped: false, message: "No active run for the thread." },
};

/** The known members of the runtime's answer. */
function stoppedInfo({ interrupt }: JsonObject): JsonObject {
  if (interrupt === undefined || !isJsonObject(interrupt)) return { stopped: true };
  const { type, message, code } = interrupt;
  return { stopped: true, interrupt: { type, message, code } as JsonObject };
}

/** Open runs of this principal on the thread, and streams that repeat one. */
function openRuns(
  { sessions }: GatewayContext,
  { agent, thread, run, principal, session }: ThreadStop,
): { session: string; run: string }[] {
  const all = session === undefined ? sessions.list() : [sessions.find(session)];
  return all.flatMap((one) =>
    [...(one?.runs.values() ?? [])].flatMap((handle) =>
      one !== undefined &&
      handle.status === "running" &&
      handle.agent === agent &&
      handle.principal === principal &&
      handle.threadId === thread &&
      (run === undefined || handle.runId === run)
        ? [{ session: one.id, run: handle.runId }]
        : [],
    ),
  );
}
