import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { acceptsProto } from "@countersign/wire/proto";
import type { Door } from "./access-control.js";
import { ANONYMOUS } from "../access/principal.js";
import { signalOfClose } from "./http-sink.js";
import type { HttpAnswer } from "./http-sink.js";
import type { ConnectionFacts } from "../runs/connection.js";
import type { Surroundings } from "../runs/gateway-context.js";
import type { Upstream } from "../agent/upstream.js";
import { clientDialectOf } from "./client-dialect.js";
import { authorizationFor, bearerOf } from "./credentials.js";
import { startGrantedRun } from "./granted-run.js";
import { receiveBody } from "./receive-body.js";
import { receiptQuestionOf } from "./receipt-request.js";
import { refuse } from "./refuse.js";
import { sessionOf } from "./session-id.js";
import { streamEndOf } from "./stream-end.js";
import { placeOf, takeUpStream } from "./resume/resume-stream.js";
import { recordUnread } from "./unread-request.js";

/** HTTP/1.1 and HTTP/2 requests share the part we use. */
export type HttpQuestion = IncomingMessage | Http2ServerRequest;

/** `POST` a RunAgentInput, get its events back as SSE or protobuf. */
export async function serveRun(
  around: Surroundings,
  door: Door,
  upstream: Upstream,
  question: HttpQuestion,
  answer: HttpAnswer,
  url: URL,
): Promise<void> {
  const gone = signalOfClose(answer);
  try {
    const place = placeOf(question);
    if (place !== undefined) {
      await takeUpStream(around, door, upstream, { question, answer, url, gone }, place);
      return;
    }
    const token = bearerOf(question);
    const grant = await door.access.authenticate(token);
    const named = sessionOf(question, url);
    if (named !== undefined) door.owners.check(named, grant.principal);
    const connection: ConnectionFacts = {
      upstream,
      sessionId: named ?? around.mintId("session"),
      principal: grant.principal,
      connectionId: around.mintId("run"),
      transport: "sse",
    };
    const { sessionId } = connection;
    const { bodyBytes: maxBytes, requestTimeoutMs: timeoutMs } = door.limits;
    const bytes = await receiveBody(question, { maxBytes, timeoutMs }).catch(
      async (error: unknown) => {
        await recordUnread(around, connection, error);
        throw error;
      },
    );
    const encoding = acceptsProto(question.headers.accept) ? "proto" : "sse";
    const { done } = await startGrantedRun(around, door, grant, {
      ...connection,
      bytes,
      authorization: authorizationFor(upstream, token),
      // A client without a session gets a new one each time; its threads must outlive that.
      ...(named === undefined ? { threadOwner: ownerOf(grant.principal.id) } : {}),
      isNamed: named !== undefined,
      clientDialect: clientDialectOf(question, url),
      receipts: receiptQuestionOf(question, url, encoding),
      traceparent: traceparentOf(question),
      ...streamEndOf(
        door,
        { answer, url, encoding, gone },
        { principal: grant.principal.id, agent: upstream.target.name, sessionId },
      ),
    });
    // Not awaited: a stream that waits would hold all that was needed to open it.
    done.catch((error: unknown) => refuse(around, answer, error));
  } catch (error) {
    refuse(around, answer, error);
  }
}

/** Session ids have no space, so that nobody's threads look like a session's. */
function ownerOf(principal: string): string {
  return principal === ANONYMOUS.id ? "" : `principal ${principal}`;
}

/** The trace a client is part of, if it says. */
export function traceparentOf(question: HttpQuestion): string | undefined {
  const { traceparent } = question.headers;
  return typeof traceparent === "string" ? traceparent : undefined;
}
