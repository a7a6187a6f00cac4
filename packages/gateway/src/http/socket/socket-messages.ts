import { isCountersignError } from "@countersign/core";
import { admitRequest } from "../../inbound/admit.js";
import { NO_RUN, ONE_WAY } from "../../inbound/send-blocker.js";
import type { SendBlocker } from "../../inbound/send-blocker.js";
import type { InboundRequest } from "../../inbound/request.js";
import { recordUndelivered } from "../../inbound/record-request.js";
import { openConnection } from "../../runs/connection.js";
import type { ConnectionFacts } from "../../runs/connection.js";
import type { StartedRun } from "../../runs/start-run.js";
import type { GatewayContext } from "../../runs/gateway-context.js";
import { countObserved } from "../../telemetry/count-event.js";
import { noteRefusal } from "../../runs/run-watch.js";

/** The state of a socket's run that its messages depend on. */
export type RunPort = {
  /** Resolves when no run is being opened: messages sent meanwhile are for that run. */
  settled(): Promise<unknown>;
  /** The open run, if any. */
  run(): StartedRun | undefined;
  /** Whether a run is open or being opened. */
  isBusy(): boolean;
  /** Whether the client has disconnected; its queued messages are then dropped. */
  isGone(): boolean;
  /** Reports a refusal to the client. */
  refuse(error: unknown): void;
};

/** Handles a browser's envelopes: decided and signed like every other event, then sent to the agent. Never rejects. */
export function createMessagePath(
  context: GatewayContext,
  facts: ConnectionFacts,
  port: RunPort,
): (text: string) => Promise<void> {
  const { upstream } = facts;
  return async (text) => {
    await port.settled();
    if (port.isGone()) return;
    const { session, inbound, client } = openConnection(context, facts);
    let target: StartedRun | undefined;
    const blocker = (): SendBlocker | undefined => {
      target = port.run();
      if (upstream.target.transport !== "websocket") return ONE_WAY;
      if (target === undefined) return NO_RUN;
      return target.send === undefined ? ONE_WAY : undefined;
    };
    const request = inbound("message", text, { blocker });
    try {
      await admitRequest(request);
      countObserved(context.telemetry, request);
      const isOpen = target !== undefined && target === port.run();
      const isSent = isOpen && target?.send?.(request.body ?? "") === true;
      if (!isSent) throw await recordUndelivered(request, NO_RUN);
      session.counters.forwarded += 1;
    } catch (error) {
      session.counters.blocked += 1;
      await context.refusals.record(request, error);
      const run = target?.handle;
      noteRefusal(context, error, {
        agent: upstream.target.name,
        ...client,
        session: session.id,
        ...(run === undefined ? {} : { thread: run.threadId, run: run.runId }),
      });
      if (!isSilent(error, request, port.isBusy())) port.refuse(error);
    }
  };
}

/** A block that ends nothing is not reported, and an open run gets no error event, since that would end it. */
function isSilent(error: unknown, { decision }: InboundRequest, isBusy: boolean): boolean {
  if (isCountersignError(error, "ERR_INBOUND_BLOCKED")) {
    return decision?.allow === false && decision.onBlock !== "end";
  }
  return (
    isBusy &&
    (isCountersignError(error, "ERR_MESSAGE_NO_RUN") ||
      isCountersignError(error, "ERR_MESSAGE_ONE_WAY"))
  );
}
