import { sseFrame, startFakeAgent } from "@countersign/testkit";
import type { FakeAnswer, FakePiece, FakeRequest } from "@countersign/testkit";
import type { JsonObject } from "@countersign/core";
import { examine } from "../doctor/doctor.js";
import type { DoctorReport } from "../doctor/report.js";
import type { DoctorOptions } from "../doctor/session.js";

const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "content-type, authorization",
  "cache-control": "no-cache",
};

/** The ids of the run that was asked for. */
export type Ids = { threadId: string; runId: string };
/** How an agent answers the run. */
export type Script = (
  ids: Ids,
  request: FakeRequest,
) => Omit<FakeAnswer, "pieces"> & { pieces: readonly FakePiece[] | AsyncIterable<FakePiece> };

/** The ids in the body of a request. */
export function idsOf(body: string): Ids {
  if (body === "") return { threadId: "t", runId: "r" };
  const { threadId, runId } = JSON.parse(body) as Ids;
  return { threadId, runId };
}

/** Runs the doctor against an agent that answers preflights well and the run by the script. */
export async function diagnose(
  script: Script,
  options: DoctorOptions = {},
  ws = false,
): Promise<DoctorReport> {
  const agent = await startFakeAgent((request) => {
    if (request.method === "OPTIONS") return { status: 204, headers: CORS, pieces: [] };
    const answer = script(idsOf(request.body), request);
    return { ...answer, headers: { ...CORS, ...answer.headers } };
  });
  try {
    return await examine(ws ? agent.webSocketUrl : agent.url, {
      timeoutMs: 4000,
      lingerMs: 300,
      profile: "strict",
      ...options,
    });
  } finally {
    await agent.stop();
  }
}

/** Passes some time. */
export const wait = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** A whole run around some events. */
export function run(ids: Ids, ...inner: JsonObject[]): JsonObject[] {
  return [{ type: "RUN_STARTED", ...ids }, ...inner, { type: "RUN_FINISHED", ...ids }];
}

/** A text message in three events. */
export const TEXT: JsonObject[] = [
  { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "Hi" },
  { type: "TEXT_MESSAGE_END", messageId: "m" },
];

/** Events as one SSE text. */
export const frames = (events: readonly JsonObject[]): string => events.map(sseFrame).join("");
/** An agent with nothing wrong. */
export const clean: Script = (ids) => ({ pieces: run(ids, ...TEXT).map(sseFrame) });
/** An agent whose good answer is changed on its way out. */
export const changed =
  (change: (body: string) => string): Script =>
  (ids) => ({ pieces: [change(frames(run(ids, ...TEXT)))] });
/** An agent that sends some events inside a run. */
export const inside =
  (...events: JsonObject[]): Script =>
  (ids) => ({ pieces: [frames(run(ids, ...events))] });
