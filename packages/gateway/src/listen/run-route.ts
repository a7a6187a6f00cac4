import { ANONYMOUS } from "../access/principal.js";
import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { acceptsProto } from "@countersign/wire/proto";
import { readBody } from "../clients/body.js";
import { createHttpSink, signalOfClose } from "../clients/http-sink.js";
import type { HttpAnswer } from "../clients/http-sink.js";
import { sendProblem } from "../clients/problem.js";
import { problemOf } from "../clients/refusal.js";
import { startRun } from "../runs/start-run.js";
import type { Surroundings } from "../runs/surroundings.js";
import type { Upstream } from "../upstream/upstream.js";
import { clientDialectOf } from "./client-dialect.js";
import { SESSION_HEADER } from "../upstream/session-header.js";
import { sessionOf } from "./session-id.js";

/** HTTP/1.1 and HTTP/2 requests share the part we use. */
export type HttpQuestion = IncomingMessage | Http2ServerRequest;

/** `POST` a RunAgentInput, get its events back as SSE or protobuf. */
export async function serveRun(
  around: Surroundings,
  upstream: Upstream,
  question: HttpQuestion,
  answer: HttpAnswer,
  url: URL,
): Promise<void> {
  const gone = signalOfClose(answer);
  try {
    const bytes = await readBody(question, around.limits.maxInputBytes);
    const named = sessionOf(question, url);
    const sessionId = named ?? around.mintId("session");
    const encoding = acceptsProto(question.headers.accept) ? "proto" : "sse";
    const { done } = await startRun(around, {
      upstream,
      bytes,
      principal: ANONYMOUS,
      sessionId,
      // A client without a session gets a new one each time; its threads must outlive that.
      ...(named === undefined ? { threadOwner: "" } : {}),
      connectionId: around.mintId("run"),
      transport: "sse",
      clientDialect: clientDialectOf(question, url),
      gone,
      openSink: () => createHttpSink(answer, encoding, gone, { [SESSION_HEADER]: sessionId }),
    });
    await done;
  } catch (error) {
    refuse(answer, error);
  }
}

/** Answers with a problem, unless the stream has already begun. */
export function refuse(answer: HttpAnswer, error: unknown): void {
  if (answer.headersSent) answer.end();
  else sendProblem(answer, problemOf(error));
}
