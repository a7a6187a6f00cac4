import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { encodeSse, encodeSseComment } from "@countersign/wire/sse";
import { expect, test } from "vitest";
import type { LedgerEvent } from "../ledger/event.js";
import { createLedgerProjection } from "../project.js";
import { createSafeEvent } from "../safe/event.js";
import { projectAll } from "../testing/drive.js";
import { row, transcript } from "../testing/sample-ledger.js";
import {
  createLedgerSseReader,
  createProjectionResponse,
  encodeProjected,
  encodeStream,
  envelopeOf,
  flattenEnvelope,
  followLedger,
  readLedgerSse,
  streamProjection,
} from "./index.js";
import type { LedgerPort, Timers } from "./index.js";

const ledgerSse = (rows: readonly unknown[]) =>
  rows
    .map((event, index) => encodeSse(JSON.stringify(event), { id: String(index), event: "ledger" }))
    .join(encodeSseComment("keepalive"));

test("B6: an envelope has id, time, kind and scope key, and no scope, owner reference or authority of its own", () => {
  const projection = createLedgerProjection();
  const envelope = envelopeOf(projection.push(transcript()[0]));
  expect(Object.keys(envelope ?? {})).toEqual([
    "id",
    "ts",
    "kind",
    "scopeKey",
    "safeEvent",
    "agUiFrames",
  ]);
  expect(JSON.stringify(envelope)).not.toMatch(/scopeRef|effectAuthorityRef|authorityId|"payload"/);
  expect(envelope === undefined ? [] : flattenEnvelope(envelope)).toMatchObject([
    {
      eventId: 1,
      eventKind: "agent.run.started",
      eventScopeKey: "conversation:demo",
      frame: { type: "RUN_STARTED" },
    },
  ]);
});

test("B7: from the event stream of a ledger, heartbeats and other names are skipped, one result for each row", () => {
  const text = `: hello\n\n${encodeSse("{}", { event: "ping" })}${ledgerSse(transcript())}`;
  const rows = createLedgerSseReader().push(new TextEncoder().encode(text));
  expect(rows).toEqual(transcript());
});

test("B24: the safe event and the frames come from one projection", () => {
  const projection = createLedgerProjection();
  for (const event of transcript()) {
    const projected = projection.push(event);
    expect(envelopeOf(projected)?.safeEvent).toBe(projected.safeEvent);
    expect(envelopeOf(projected)?.agUiFrames).toBe(projected.frames);
  }
});

test("B25: an event that is not shown has no envelope: not even its kind appears", () => {
  const projected = createLedgerProjection().push(row(1, "shop.secret_launch", {}, "@shop/x"));
  expect(projected.safeEvent).toBeUndefined();
  expect(envelopeOf(projected)).toBeUndefined();
  expect(encodeProjected(projected, "envelope")).toBe("");
});

test("B26: the envelope format names its events and adds the safe event; the AG-UI format has frames alone", () => {
  const projected = createLedgerProjection().push(transcript()[0]);
  const envelope = encodeProjected(projected, "envelope");
  expect(envelope).toMatch(/^event: ag_ui\nid: 1\ndata: \{"id":1,/);
  expect(envelope).toContain('"safeEvent":{"id":1');
  expect(encodeProjected(projected)).toMatch(/^data: \{"type":"RUN_STARTED"/);
  expect(encodeProjected(projected, "ag-ui", 1)).toMatch(/^id: 1\ndata: /);
});

test("only the last frame of an event has its id: a client that resumes with it has seen all of it", () => {
  const projection = createLedgerProjection();
  const texts = transcript().map((event) =>
    encodeProjected(projection.push(event), "ag-ui", event.id),
  );
  expect(texts[2]?.match(/^id: /gm)).toHaveLength(1);
  expect(texts[2]?.lastIndexOf("id: 3\ndata:")).toBeGreaterThan(0);
});

test("B29: the event stream of a ledger may be split at every byte, and a body may be missing", async () => {
  const bytes = new TextEncoder().encode(ledgerSse(transcript()).replaceAll("I will", "Ü→😀"));
  const whole = createLedgerSseReader().push(bytes);
  expect(whole).toHaveLength(5);
  for (let cut = 0; cut <= bytes.length; cut += 7) {
    const reader = createLedgerSseReader();
    const rows = [...reader.push(bytes.slice(0, cut)), ...reader.push(bytes.slice(cut))];
    expect([...rows, ...reader.end()]).toEqual(whole);
  }
  const reader = createLedgerSseReader();
  const drip = Array.from(bytes, (byte) => reader.push(Uint8Array.of(byte))).flat();
  expect(drip).toEqual(whole);
  const none: unknown[] = [];
  for await (const event of readLedgerSse(null)) none.push(event);
  expect(none).toEqual([]);
});

test("B29: data over several lines is one row, and a row that is not JSON loses only itself", () => {
  const pretty = encodeSse(JSON.stringify(transcript()[0], null, 2), { event: "ledger" });
  const broken = encodeSse('{"id":1,"id":2}', { event: "ledger" });
  const rows = createLedgerSseReader().push(new TextEncoder().encode(broken + pretty));
  expect(rows[1]).toEqual(transcript()[0]);
  expect(projectAll(rows).codes).toEqual(["MALFORMED_EVENT", "STREAM_ENDED"]);
});

/** A ledger in memory. */
function memoryLedger(rows: LedgerEvent[] = []): LedgerPort & {
  append(event: LedgerEvent): void;
  readonly listeners: number;
} {
  const listeners = new Set<() => void>();
  return {
    read: (afterId, limit) => rows.filter(({ id }) => id > afterId).slice(0, limit),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    append(event) {
      rows.push(event);
      for (const listener of listeners) listener();
    },
    get listeners() {
      return listeners.size;
    },
  };
}

test("following gives every row once, from a cursor, across the switch from stored to live", async () => {
  const rows = transcript();
  const ledger = memoryLedger(rows.slice(0, 2));
  const abort = new AbortController();
  const ids: number[] = [];
  for await (const event of followLedger(ledger, {
    afterId: 1,
    signal: abort.signal,
    pageSize: 1,
  })) {
    const { id } = event as LedgerEvent;
    ids.push(id);
    const next = rows[id];
    // Appended while the last row is processed, in the middle of a page, and later.
    if (next === undefined) abort.abort();
    else if (id % 2 === 0) ledger.append(next);
    else setTimeout(() => ledger.append(next), 1);
  }
  expect(ids).toEqual([2, 3, 4, 5]);
  expect(ledger.listeners).toBe(0);
});

test("following stops on abort, also while it waits", async () => {
  const ledger = memoryLedger();
  const abort = new AbortController();
  const following = followLedger(ledger, { signal: abort.signal });
  const next = following.next();
  abort.abort();
  expect(await next).toEqual({ done: true, value: undefined });
  expect(ledger.listeners).toBe(0);
});

async function textOf(response: Response): Promise<string> {
  return await response.text();
}

test("a response streams the frames of a run as AG-UI clients expect them and ends with the run", async () => {
  const later = row(6, "agent.run.started", { intent: "another" });
  const source = streamProjection([...transcript(), later], createLedgerProjection(), {
    until: "run",
  });
  const response = createProjectionResponse(source);
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  expect(response.headers.get("cache-control")).toBe("no-cache, no-transform");
  const expected = projectAll(transcript()).frames.map((frame) => encodeSse(JSON.stringify(frame)));
  expect(await textOf(response)).toBe(expected.join(""));
});

test("history is restated before the rows that follow, and a run that ended there ends the stream", async () => {
  const rows = transcript();
  const resumed = streamProjection(rows.slice(3), createLedgerProjection(), {
    history: rows.slice(0, 3),
    until: "run",
  });
  const text = await textOf(createProjectionResponse(resumed, { hasIds: true }));
  expect(text).toContain("MESSAGES_SNAPSHOT");
  expect(text).toMatch(/id: 5\ndata: \{"type":"RUN_FINISHED"[^\n]*\n\n$/);
  const over = streamProjection([row(9, "agent.run.started", {})], createLedgerProjection(), {
    history: rows,
    until: "run",
  });
  expect(await textOf(createProjectionResponse(over))).not.toContain('"ledgerRunId":9');
});

test("a source that fails ends its run in RUN_ERROR and does not reveal the failure", async () => {
  async function* failing() {
    yield transcript()[0];
    await Promise.resolve();
    throw new Error("row 2 holds hunter2");
  }
  const codes: string[] = [];
  const source = streamProjection(failing(), createLedgerProjection(), {
    onDiagnostic: ({ code }) => codes.push(code),
  });
  const text = await textOf(createProjectionResponse(source));
  expect(text).toContain('"type":"RUN_ERROR"');
  expect(text).not.toContain("hunter2");
  expect(codes).toEqual(["ERR_PROJECTION_STREAM_ENDED"]);
});

test("silence is filled with heartbeats, and a reader that disconnects is reported to the caller", async () => {
  const due: (() => void)[] = [];
  const timers: Timers = {
    setTimeout: (callback) => due.push(callback),
    clearTimeout: () => undefined,
  };
  const ledger = memoryLedger();
  const abort = new AbortController();
  const source = streamProjection(
    followLedger(ledger, { signal: abort.signal }),
    createLedgerProjection(),
  );
  const stream = encodeStream(source, { timers, onCancel: () => abort.abort() });
  const reader = stream.getReader();
  const first = reader.read();
  await Promise.resolve();
  due.at(-1)?.();
  expect(await first).toEqual({ done: false, value: ": keepalive\n\n" });
  const event = transcript()[0];
  if (event !== undefined) ledger.append(event);
  expect((await reader.read()).value).toContain("RUN_STARTED");
  await reader.cancel();
  expect(abort.signal.aborted).toBe(true);
});

test("B34: no code after the owners reads a payload or decodes an event", () => {
  const source = join(import.meta.dirname, "..");
  const texts = (folder: string) =>
    readdirSync(join(source, folder))
      .filter((name) => name.endsWith(".ts") && !name.includes(".test."))
      .map((name) => readFileSync(join(source, folder, name), "utf8"));
  const behind = ["frames", "stream", "safety", "input", "tools"].flatMap(texts);
  const mentionsPayload = (text: string) =>
    /(?:event|row|source)\.payload\b|RecordedEvent/.test(text);
  expect(behind.filter(mentionsPayload)).toEqual([]);
  // The check works: the owners do read payloads.
  expect(texts("owners/runtime").some(mentionsPayload)).toBe(true);
});

test("the owner of an event decides what its envelope holds", () => {
  const owner = {
    factOwnerRef: "@shop/x",
    projectSafeEvent: (event: Parameters<typeof createSafeEvent>[0]) =>
      createSafeEvent(event, { total: 1 }),
  };
  const projection = createLedgerProjection({ owners: [owner] });
  const projected = projection.push(row(1, "shop.sold", { total: 1, card: "4111" }, "@shop/x"));
  expect(envelopeOf(projected)?.safeEvent.safePayload).toEqual({ total: 1 });
});
