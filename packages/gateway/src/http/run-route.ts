import type { HttpRequest, HttpResponse } from "./exchange.js";
import { acceptsProto } from "@countersign/wire/proto";
import type { AccessControl } from "./access-control.js";
import { ANONYMOUS } from "../access/access.js";
import { signalOfClose } from "./http-sink.js";
import type { ConnectionFacts } from "../runs/connection.js";
import type { GatewayContext } from "../runs/gateway-context.js";
import type { Upstream } from "../agent/upstream.js";
import { clientDialectOf, sessionOf } from "./exchange.js";
import { authorizationFor, bearerOf } from "./credentials.js";
import { startGrantedRun } from "./granted-run.js";
import { receiveBody } from "./receive-body.js";
import { receiptRequestOf } from "./receipt-request.js";
import { refuse, recordUnreadRequest } from "./refuse.js";
import { clientSinkOf } from "./client-sink.js";
import { lastEventIdOf, resumeStream } from "./resume/resume-stream.js";

/** `POST` a RunAgentInput; the response streams its events as SSE or protobuf. */
export async function serveRun(
  context: GatewayContext,
  accessControl: AccessControl,
  upstream: Upstream,
  request: HttpRequest,
  response: HttpResponse,
  url: URL,
): Promise<void> {
  const gone = signalOfClose(response);
  try {
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
    const grant = await accessControl.access.authenticate(token);
    const named = sessionOf(request, url);
    if (named !== undefined) accessControl.owners.check(named, grant.principal);
    const connection: ConnectionFacts = {
      upstream,
      sessionId: named ?? context.mintId("session"),
      principal: grant.principal,
      connectionId: context.mintId("run"),
      transport: "sse",
    };
    const { sessionId } = connection;
    const { bodyBytes: maxBytes, requestTimeoutMs: timeoutMs } = accessControl.limits;
    const bytes = await receiveBody(request, { maxBytes, timeoutMs }).catch(
      async (error: unknown) => {
        await recordUnreadRequest(context, connection, error);
        throw error;
      },
    );
    const encoding = acceptsProto(request.headers.accept) ? "proto" : "sse";
    const { done } = await startGrantedRun(context, accessControl, grant, {
      ...connection,
      bytes,
      authorization: authorizationFor(upstream, token),
      // A client without a session gets a new one for each run; its threads must outlive that.
      ...(named === undefined ? { threadScope: scopeOf(grant.principal.id) } : {}),
      isNamed: named !== undefined,
      clientDialect: clientDialectOf(request, url),
      receipts: receiptRequestOf(request, url, encoding),
      traceparent: traceparentOf(request),
      ...clientSinkOf(
        accessControl,
        { response, url, encoding, gone },
        { principal: grant.principal.id, agent: upstream.target.name, sessionId, grant },
      ),
    });
    // Not awaited: the pending call would keep everything alive that opening the stream needed.
    done.catch((error: unknown) => refuse(context, response, error));
  } catch (error) {
    refuse(context, response, error);
  }
}

/** Session ids contain no space, so that a principal's threads never collide with a session's. */
function scopeOf(principal: string): string {
  return principal === ANONYMOUS.id ? "" : `principal ${principal}`;
}

/** The client's trace context, if it sends one. */
export function traceparentOf(request: HttpRequest): string | undefined {
  const { traceparent } = request.headers;
  return typeof traceparent === "string" ? traceparent : undefined;
}
