import type { Message } from "@countersign/wire";
import { reduceEvents } from "@countersign/wire/reduce";
import { expect, test } from "vitest";
import { createLedgerProjection } from "./project.js";
import type { ProjectionSpec } from "./project.js";
import { outline, projectAll } from "./testing/drive.js";
import { brokenRules, readWithOfficialClient } from "./testing/official-client.js";
import { everyKind, row, transcript, usage } from "./testing/sample-ledger.js";

const asked: Message = { id: "u1", role: "user", content: "read the file" };
const turn = { id: 1, index: 0 };

/** Restates the rows up to a cursor and streams the rest. */
function resume(rows: readonly unknown[], cut: number, spec: ProjectionSpec = {}) {
  const projection = createLedgerProjection(spec);
  const history = projection.replay(rows.slice(0, cut));
  const live = rows.slice(cut).flatMap((event) => [...projection.push(event).frames]);
  return {
    history: history.frames,
    frames: [...history.frames, ...live, ...projection.end().frames],
  };
}

test("from any cursor the reader ends with the same conversation as one that saw everything", async () => {
  const rows = everyKind();
  const spec = { messages: [asked] };
  const whole = await readWithOfficialClient(projectAll(rows, spec).frames, { messages: [asked] });
  for (let cut = 0; cut <= rows.length; cut++) {
    const { frames } = resume(rows, cut, spec);
    expect(brokenRules(frames)).toEqual([]);
    const read = await readWithOfficialClient(frames, { messages: [asked] });
    expect(read.failure).toBeUndefined();
    const byId = (messages: readonly Message[]) =>
      messages.toSorted((left, right) => (left.id < right.id ? -1 : 1));
    expect(byId(read.messages)).toEqual(byId(whole.messages));
    expect(reduceEvents(frames).status).toBe("finished");
  }
});

test("history is a start, a snapshot and, if the run ended, its end; nothing is streamed again", () => {
  const rows = transcript();
  expect(outline(resume(rows, 4).history)).toEqual(["RUN_STARTED", "MESSAGES_SNAPSHOT"]);
  const { history } = resume(rows, 5);
  expect(outline(history)).toEqual(["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
  expect(history[2]).toEqual(projectAll(rows).frames.at(-1));
});

test("history in any order and with repetitions is restated the same", () => {
  const rows = transcript();
  const shuffled = [rows[3], rows[0], rows[2], rows[2], rows[1], rows[4]];
  const projection = createLedgerProjection();
  expect(projection.replay(shuffled).frames).toEqual(resume(rows, 5).history);
  expect(shuffled[0]).toBe(rows[3]);
});

test("a snapshot includes the client's messages, which it would drop otherwise", () => {
  const [, snapshot] = resume(transcript(), 5, { messages: [asked] }).history;
  expect(snapshot).toMatchObject({ messages: [{ id: "u1" }, { role: "assistant" }, {}, {}] });
});

test("a row or a payload that throws when it is read produces a diagnostic and no frame", () => {
  const trap = new Proxy(
    {},
    {
      get: () => {
        throw new Error("hunter2");
      },
      getOwnPropertyDescriptor: () => {
        throw new Error("hunter2");
      },
    },
  );
  const rows = [trap, row(2, "chat.ingested", trap), row(3, "llm.response", { turn: trap })];
  const { frames, diagnostics } = createLedgerProjection().replay(rows);
  expect(frames).toEqual([]);
  expect(diagnostics).toHaveLength(3);
  expect(JSON.stringify(diagnostics)).not.toContain("hunter2");
});

test("history without a run produces nothing", () => {
  expect(createLedgerProjection().replay([]).frames).toEqual([]);
});

test("text shown live is confirmed by the record: one message, no character twice", () => {
  const projection = createLedgerProjection({ disclosure: { scrub: { literals: ["hunter2"] } } });
  const text = "The word is hunter2, 😀 as always.";
  const frames = [...projection.push(row(1, "agent.run.started", { intent: "" })).frames];
  for (const delta of text.slice(0, 24)) {
    frames.push(...projection.pushLive({ runId: 1, turnIndex: 0, delta }).frames);
  }
  const items = [{ type: "message", text }];
  frames.push(...projection.push(row(2, "llm.response", { turn, items, usage })).frames);
  frames.push(...projection.end().frames);
  expect(brokenRules(frames)).toEqual([]);
  const { messages } = reduceEvents(frames);
  expect(messages).toMatchObject([{ content: "The word is [redacted], 😀 as always." }]);
  expect(outline(frames).filter((type) => type === "TEXT_MESSAGE_START")).toHaveLength(1);
  expect(JSON.stringify(frames)).not.toMatch(/\\ud[89a-f]/);
});

test("live text that differs from the record stays, is reported, and the recorded text follows", () => {
  const projection = createLedgerProjection();
  const frames = [...projection.push(row(1, "agent.run.started", { intent: "" })).frames];
  frames.push(...projection.pushLive({ runId: 1, turnIndex: 0, delta: "Yes" }).frames);
  const items = [{ type: "message", text: "No." }];
  const { frames: rest, diagnostics } = projection.push(
    row(2, "llm.response", { turn, items, usage }),
  );
  frames.push(...rest, ...projection.end().frames);
  expect(diagnostics).toMatchObject([{ code: "ERR_PROJECTION_LIVE_TEXT", reason: "differs" }]);
  expect(reduceEvents(frames).messages).toMatchObject([{ content: "Yes" }, { content: "No." }]);
  expect(brokenRules(frames)).toEqual([]);
});

test("live text that is never recorded is closed before the run ends", () => {
  const projection = createLedgerProjection();
  const frames = [...projection.push(row(1, "agent.run.started", { intent: "" })).frames];
  frames.push(...projection.pushLive({ runId: 1, turnIndex: 0, delta: "Half" }).frames);
  const stop = projection.push(row(2, "agent.aborted.cancelled", { runId: 1, tokensUsed: 0 }));
  frames.push(...stop.frames);
  expect(stop.diagnostics).toMatchObject([{ reason: "not-recorded" }]);
  expect(brokenRules(frames)).toEqual([]);
});

test("live text without its run produces a diagnostic and no frame", () => {
  const projected = createLedgerProjection().pushLive({ runId: 1, turnIndex: 0, delta: "x" });
  expect(projected.frames).toEqual([]);
  expect(projected.diagnostics).toMatchObject([{ reason: "no-run" }]);
});

test("history at the limit of messages is restated; one over, the run continues without a snapshot", () => {
  const messages = (count: number): Message[] =>
    Array.from({ length: count }, (_, index) => ({ id: `u${index}`, role: "user", content: "" }));
  // The transcript adds an assistant, a tool and a reasoning message.
  const at = createLedgerProjection({ messages: messages(9997) }).replay(transcript());
  expect(outline(at.frames)).toEqual(["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
  const over = createLedgerProjection({ messages: messages(9998) }).replay(transcript());
  expect(outline(over.frames)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  expect(over.diagnostics).toMatchObject([{ code: "ERR_PROJECTION_HISTORY_TOO_LARGE" }]);
});
