import type { HttpRequest, HttpResponse } from "./exchange.js";
import { acceptsProto } from "@countersign/wire/proto";
import type { AccessControl } from "./access-control.js";
import { signalOfClose } from "./http-sink.js";
import type { ConnectionFacts } from "../runs/connection.js";
import type { GatewayContext } from "../runs/gateway-context.js";
import type { Upstream } from "../agent/upstream.js";
import { clientDialectOf, sessionOf } from "./exchange.js";
import { authorizationFor, bearerOf } from "./credentials.js";
import { startGrantedRun } from "./granted-run.js";
import { receiveBody } from "./receive-body.js";
import { receiptRequestOf } from "./receipt-request.js";
import { refuse, recordUnreadRequest, strangerOf } from "./refuse.js";
import type { RefusalFacts } from "../runs/run-watch.js";
import { clientSinkOf } from "./client-sink.js";
import { lastEventIdOf, resumeStream } from "./resume/resume-stream.js";

/**
 * `POST` a RunAgentInput; the response streams its events as SSE or protobuf.
 *
 * @param received the input, if it was read already
 */
export async function serveRun(
  context: GatewayContext,
  accessControl: AccessControl,
  upstream: Upstream,
  request: HttpRequest,
  response: HttpResponse,
  url: URL,
  received?: Uint8Array,
): Promise<void> {
  const gone = signalOfClose(response);
  const clientAddress = accessControl.clientAddress(request);
  let client: RefusalFacts = {
    ...strangerOf(context, accessControl, request, url),
    agent: upstream.target.name,
  };
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
    const { principal } = grant;
    client = { ...client, ...context.identities.of(principal, clientAddress) };
    const named = sessionOf(request, url);
    if (named !== undefined) client = { ...client, session: named };
    if (named !== undefined) accessControl.owners.check(named, grant.principal);
    const connection: ConnectionFacts = {
      upstream,
      sessionId: named ?? context.mintId("session"),
      principal,
      clientAddress,
      connectionId: context.mintId("run"),
      transport: "sse",
    };
    const { sessionId } = connection;
    const { bodyBytes: maxBytes, requestTimeoutMs: timeoutMs } = accessControl.limits;
    const bytes =
      received ??
      (await receiveBody(request, { maxBytes, timeoutMs }).catch(async (error: unknown) => {
        await recordUnreadRequest(context, connection, error);
        throw error;
      }));
    const encoding = acceptsProto(request.headers.accept) ? "proto" : "sse";
    const { done } = await startGrantedRun(context, accessControl, grant, {
      ...connection,
      bytes,
      authorization: authorizationFor(upstream, token),
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
    const started = client;
    done.catch((error: unknown) => refuse(context, response, error, started));
  } catch (error) {
    refuse(context, response, error, client);
  }
}

/** The client's trace context, if it sends one. */
export function traceparentOf(request: HttpRequest): string | undefined {
  const { traceparent } = request.headers;
  return typeof traceparent === "string" ? traceparent : undefined;
}
