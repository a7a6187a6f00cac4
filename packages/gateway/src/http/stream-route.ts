import { isCountersignError, sha256Hex } from "@countersign/core";
import type { Grant } from "../access/access.js";
import type { AccessControl } from "./access-control.js";
import { signalOfClose } from "./http-sink.js";
import type { HttpResponse, HttpRequest } from "./exchange.js";
import { sendProblem } from "./problem.js";
import type { GatewayContext } from "../runs/gateway-context.js";
import type { Upstream } from "../agent/upstream.js";
import { clientDialectOf, sessionOf } from "./exchange.js";
import { authorizationFor, bearerOf } from "./credentials.js";
import { startGrantedRun } from "./granted-run.js";
import { receiptRequestOf } from "./receipt-request.js";
import { refuse, strangerOf } from "./refuse.js";
import type { RefusalFacts } from "../runs/run-watch.js";
import { traceparentOf } from "./run-route.js";
import { clientSinkOf } from "./client-sink.js";
import { lastEventIdOf, resumeStream } from "./resume/resume-stream.js";

/**
 * `GET` for a plain `EventSource`: it has no body, so the session identifies the stream, and no headers, so a ticket
 * may replace the credential.
 *
 * An `EventSource` reconnects by itself when a stream ends; that must not start the run again.
 */
export async function serveStream(
  context: GatewayContext,
  accessControl: AccessControl,
  upstream: Upstream,
  request: HttpRequest,
  response: HttpResponse,
  url: URL,
): Promise<void> {
  const gone = signalOfClose(response);
  const clientAddress = accessControl.clientAddress(request);
  let client: RefusalFacts = {
    ...strangerOf(context, accessControl, request, url),
    agent: upstream.target.name,
  };
  try {
    const sessionId = sessionOf(request, url);
    if (sessionId !== undefined) client = { ...client, session: sessionId };
    if (sessionId === undefined) {
      sendProblem(response, {
        status: 400,
        code: "SESSION_MISSING",
        title: "The stream needs ?session=, 1 to 256 letters, digits or any of . : @ _ -",
      });
      return;
    }
    const lastEventId = lastEventIdOf(request);
    if (lastEventId !== undefined) {
      await resumeStream(
        context,
        accessControl,
        upstream,
        { request, response, url, gone },
        lastEventId,
      );
      return;
    }
    const token = bearerOf(request);
    const ticket = url.searchParams.get("ticket");
    const grant: Grant =
      ticket === null
        ? await accessControl.access.authenticate(token)
        : await accessControl.tickets.redeem(ticket, { sessionId, agent: upstream.target.name });
    client = { ...client, ...context.identities.of(grant.principal, clientAddress) };
    accessControl.owners.check(sessionId, grant.principal);
    const runId = url.searchParams.get("run") ?? `stream-${sessionId}`;
    const session = context.sessions.find(sessionId);
    if (session?.runs.has(runId) === true) {
      stopReconnecting(response);
      return;
    }
    const input = { threadId: sessionId, runId, protocolVersion: "1.0", messages: [] };
    const { done } = await startGrantedRun(context, accessControl, grant, {
      upstream,
      bytes: JSON.stringify(input),
      authorization: authorizationFor(upstream, token),
      sessionId,
      isNamed: true,
      clientAddress,
      connectionId: context.mintId("run"),
      transport: "sse",
      hasNoInput: true,
      clientDialect: clientDialectOf(request, url) ?? "as-sent",
      receipts: receiptRequestOf(request, url),
      traceparent: traceparentOf(request),
      ...clientSinkOf(
        accessControl,
        { response, url, encoding: "sse", gone },
        {
          principal: grant.principal.id,
          agent: upstream.target.name,
          sessionId,
          ticket: ticket === null ? undefined : sha256Hex(ticket),
          grant,
        },
      ),
    });
    // Not awaited: the pending call would keep everything alive that opening the stream needed.
    const started = client;
    done.catch((error: unknown) => refuse(context, response, error, started));
  } catch (error) {
    if (isCountersignError(error, "ERR_STREAM_GONE")) stopReconnecting(response);
    else refuse(context, response, error, client);
  }
}

/** The response that tells an EventSource to stop reconnecting. */
function stopReconnecting(response: HttpResponse): void {
  response.writeHead(204).end();
}
