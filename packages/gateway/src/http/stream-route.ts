import { isCountersignError, sha256Hex } from "@countersign/core";
import type { Grant } from "../access/access.js";
import type { Door } from "./access-control.js";
import { signalOfClose } from "./http-sink.js";
import type { HttpAnswer } from "./http-sink.js";
import { sendProblem } from "./problem.js";
import type { Surroundings } from "../runs/gateway-context.js";
import type { Upstream } from "../agent/upstream.js";
import { clientDialectOf } from "./client-dialect.js";
import { authorizationFor, bearerOf } from "./credentials.js";
import { startGrantedRun } from "./granted-run.js";
import { receiptQuestionOf } from "./receipt-request.js";
import { refuse } from "./refuse.js";
import { traceparentOf } from "./run-route.js";
import type { HttpQuestion } from "./run-route.js";
import { sessionOf } from "./session-id.js";
import { streamEndOf } from "./stream-end.js";
import { placeOf, takeUpStream } from "./resume/resume-stream.js";

/**
 * `GET` for a plain `EventSource`: no body, so the session is all there is to go by, and no header, so a
 * ticket may stand in for the credential.
 *
 * An `EventSource` comes back by itself when a stream ends; that must not start the run again.
 */
export async function serveStream(
  around: Surroundings,
  door: Door,
  upstream: Upstream,
  question: HttpQuestion,
  answer: HttpAnswer,
  url: URL,
): Promise<void> {
  const gone = signalOfClose(answer);
  try {
    const sessionId = sessionOf(question, url);
    if (sessionId === undefined) {
      sendProblem(answer, {
        status: 400,
        code: "SESSION_MISSING",
        title: "The stream needs ?session=, 1 to 256 letters, digits or any of . : @ _ -",
      });
      return;
    }
    const place = placeOf(question);
    if (place !== undefined) {
      await takeUpStream(around, door, upstream, { question, answer, url, gone }, place);
      return;
    }
    const token = bearerOf(question);
    const ticket = url.searchParams.get("ticket");
    const grant: Grant =
      ticket === null
        ? await door.access.authenticate(token)
        : await door.tickets.redeem(ticket, { sessionId, agent: upstream.target.name });
    door.owners.check(sessionId, grant.principal);
    const runId = url.searchParams.get("run") ?? `stream-${sessionId}`;
    const session = around.sessions.find(sessionId);
    if (session?.runs.has(runId) === true) {
      stayAway(answer);
      return;
    }
    const input = { threadId: sessionId, runId, protocolVersion: "1.0", messages: [] };
    const { done } = await startGrantedRun(around, door, grant, {
      upstream,
      bytes: JSON.stringify(input),
      authorization: authorizationFor(upstream, token),
      sessionId,
      isNamed: true,
      connectionId: around.mintId("run"),
      transport: "sse",
      clientDialect: clientDialectOf(question, url) ?? "as-sent",
      receipts: receiptQuestionOf(question, url),
      traceparent: traceparentOf(question),
      ...streamEndOf(
        door,
        { answer, url, encoding: "sse", gone },
        {
          principal: grant.principal.id,
          agent: upstream.target.name,
          sessionId,
          ticket: ticket === null ? undefined : sha256Hex(ticket),
        },
      ),
    });
    // Not awaited: a stream that waits would hold all that was needed to open it.
    done.catch((error: unknown) => refuse(around, answer, error));
  } catch (error) {
    if (isCountersignError(error, "ERR_STREAM_GONE")) stayAway(answer);
    else refuse(around, answer, error);
  }
}

/** The answer that tells an EventSource to stop coming back. */
function stayAway(answer: HttpAnswer): void {
  answer.writeHead(204).end();
}
