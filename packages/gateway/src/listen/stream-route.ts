import type { Grant } from "../access/access.js";
import type { Door } from "../access/door.js";
import { createHttpSink, signalOfClose } from "../clients/http-sink.js";
import type { HttpAnswer } from "../clients/http-sink.js";
import { sendProblem } from "../clients/problem.js";
import type { Surroundings } from "../runs/surroundings.js";
import { SESSION_HEADER } from "../upstream/session-header.js";
import type { Upstream } from "../upstream/upstream.js";
import { clientDialectOf } from "./client-dialect.js";
import { authorizationFor, bearerOf } from "./credentials.js";
import { startGrantedRun } from "./granted-run.js";
import { refuse } from "./refuse.js";
import { traceparentOf } from "./run-route.js";
import type { HttpQuestion } from "./run-route.js";
import { sessionOf } from "./session-id.js";

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
  const sessionId = sessionOf(question, url);
  if (sessionId === undefined) {
    sendProblem(answer, {
      status: 400,
      code: "SESSION_MISSING",
      title: "The stream needs ?session=, 1 to 256 letters, digits or any of . : @ _ -",
    });
    return;
  }
  const gone = signalOfClose(answer);
  try {
    const token = bearerOf(question);
    const ticket = url.searchParams.get("ticket");
    const grant: Grant =
      ticket === null
        ? await door.access.authenticate(token)
        : await door.tickets.redeem(ticket, { sessionId, agent: upstream.target.name });
    door.owners.check(sessionId, grant.principal);
    const runId = url.searchParams.get("run") ?? `stream-${sessionId}`;
    const session = around.sessions.find(sessionId);
    if (question.headers["last-event-id"] !== undefined || session?.runs.has(runId) === true) {
      // 204 tells an EventSource to stop coming back.
      answer.writeHead(204).end();
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
      traceparent: traceparentOf(question),
      gone,
      openSink: () => createHttpSink(answer, "sse", gone, { [SESSION_HEADER]: sessionId }),
    });
    // Not awaited: a stream that waits would hold all that was needed to open it.
    done.catch((error: unknown) => refuse(around, answer, error));
  } catch (error) {
    refuse(around, answer, error);
  }
}
