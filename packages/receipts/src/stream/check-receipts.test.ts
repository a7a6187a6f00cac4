import { canonicalJson, encodeHex, sha256Hex } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { createSigner, generateKey } from "@countersign/core/sign";
import { expect, test } from "vitest";
import { buildBatch } from "../receipt/build-batch.js";
import { checkReceipts } from "./check-receipts.js";
import type { StreamFault } from "./check-receipts.js";

const signer = createSigner(generateKey());
const key = `ed25519:${encodeHex(signer.publicKey)}`;
const asked = { threadId: "thread", runId: "run" };

type Received = { event: JsonObject; receipt: JsonObject };
type Maker = { stream?: string; run?: string; session?: string; batch?: boolean };

/** A run as its gateway would send it, built from the format documentation alone. */
function streamOf({
  stream = "evt_A",
  run = "run",
  session = "s",
  batch = false,
}: Maker): Received[] {
  const ids = { threadId: "thread", runId: run };
  const events: JsonObject[] = [
    { type: "RUN_STARTED", ...ids },
    { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: `pay ${run}` },
    { type: "TEXT_MESSAGE_END", messageId: "m" },
    { type: "RUN_FINISHED", ...ids },
  ];
  const bodies = events.map((event, index) => bodyOf(event, `${stream}.${index + 1}`, session));
  const texts = bodies.map((body) => new TextEncoder().encode(canonicalJson(body)));
  const signatures = batch
    ? buildBatch(texts, (message) => signer.sign(message))
    : texts.map((text) => `ed25519:${encodeHex(signer.sign(text))}`);
  return events.map((event, index) => ({
    event,
    receipt: { ...(bodies[index] as JsonObject), signature: signatures[index] as string },
  }));
}

function bodyOf(event: JsonObject, id: string, session: string): JsonObject {
  return {
    id: `agui-${id}`,
    timestamp: 1_767_225_600,
    event_id: id,
    agent_id: "support",
    session_id: session,
    capability_id: "<none>",
    event_type: "text_stream",
    classification: "display",
    transport: "sse",
    allowed: true,
    payload_hash: sha256Hex(canonicalJson(event)),
    kernel_key: key,
  };
}

/** The results for a stream, in order: `ok` or the fault. */
async function findings(received: readonly Received[], further: object = {}): Promise<string[]> {
  const faults = new Map<unknown, StreamFault>();
  const check = checkReceipts({
    trustedKeys: [key],
    onRefused: (fault, about) => void faults.set(about, fault),
    ...further,
  });
  // All at once, as in a burst: the results do not depend on when signatures were checked.
  const results = received.map(({ event, receipt }) => {
    const about = { event, ...asked };
    return check(receipt, about).then((isGood) => (isGood ? "ok" : (faults.get(about) as string)));
  });
  return Promise.all(results);
}

const OK = ["ok", "ok", "ok", "ok", "ok"];

test.each([false, true])("every event of a genuine stream passes (batch: %s)", async (batch) => {
  expect(await findings(streamOf({ batch }))).toEqual(OK);
  expect(await findings(streamOf({ batch }), { agent: "support", session: "s" })).toEqual(OK);
});

test("a client that reads one stream after the other checks each", async () => {
  const check = checkReceipts({ trustedKeys: [key] });
  for (const [stream, run] of [
    ["evt_A", "run-1"],
    ["evt_B", "run-2"],
  ] as const) {
    for (const { event, receipt } of streamOf({ stream, run })) {
      expect(await check(receipt, { event, threadId: "thread", runId: run })).toBe(true);
    }
  }
});

test("a changed event is detected", async () => {
  const received = streamOf({});
  received[2]!.event = { ...received[2]!.event, delta: "pay the attacker" };
  expect(await findings(received)).toEqual(["ok", "ok", "event", "ok", "ok"]);
});

test("an event removed together with its receipt is detected", async () => {
  expect(await findings(streamOf({}).toSpliced(2, 1))).toEqual(["ok", "ok", "gap", "ok"]);
});

test("the first events cannot be removed", async () => {
  const rest = streamOf({}).slice(1);
  expect(await findings(rest)).toEqual(Array.from(rest, () => "other-stream"));
});

test("reordered events are detected", async () => {
  const [started, open, content, close, finished] = streamOf({}) as [
    Received,
    Received,
    Received,
    Received,
    Received,
  ];
  expect(await findings([started, content, open, close, finished])).toEqual([
    "ok",
    "gap",
    "repeated",
    "ok",
    "ok",
  ]);
});

test("a receipt of another event of the stream is detected", async () => {
  const received = streamOf({});
  const [second, third] = [received[1]!.receipt, received[2]!.receipt];
  received[1]!.receipt = third;
  received[2]!.receipt = second;
  expect(await findings(received)).toEqual(["ok", "event", "event", "ok", "ok"]);
});

test("a repeated event is detected, and so is a repeated stream", async () => {
  const received = streamOf({});
  const twice = received.toSpliced(3, 0, received[2]!);
  expect(await findings(twice)).toEqual(["ok", "ok", "ok", "repeated", "ok", "ok"]);
  expect((await findings([...received, ...received])).slice(5)).toEqual(
    Array.from(OK, () => "repeated"),
  );
});

test("events of another run do not pass, whether they are mixed in or sent instead", async () => {
  const other = streamOf({ stream: "evt_B", run: "other" });
  expect(await findings(streamOf({}).toSpliced(2, 1, other[2]!))).toEqual([
    "ok",
    "ok",
    "other-stream",
    "gap",
    "ok",
  ]);
  expect(await findings(other)).toEqual(Array.from(OK, () => "other-stream"));
  // The same with the ids of this run written over the signed ones.
  const renamed = other.map(({ event, receipt }) => ({
    event: Object.hasOwn(event, "runId") ? { ...event, ...asked } : event,
    receipt,
  }));
  expect(await findings(renamed)).toEqual([
    "event",
    "signature",
    "signature",
    "signature",
    "event",
  ]);
});

test("a receipt of another session does not pass, even if its id matches", async () => {
  const other = streamOf({ session: "theirs" });
  expect(await findings(streamOf({}).with(2, other[2]!))).toEqual([
    "ok",
    "ok",
    "other-stream",
    "gap",
    "ok",
  ]);
  expect(await findings(other, { session: "s" })).toEqual(Array.from(OK, () => "session"));
  expect(await findings(other, { agent: "billing" })).toEqual(Array.from(OK, () => "agent"));
});

test("a receipt that the trusted key did not sign does not pass", async () => {
  const stranger = createSigner(generateKey());
  const foreign = { trustedKeys: [`ed25519:${encodeHex(stranger.publicKey)}`] };
  expect(await findings(streamOf({}), foreign)).toEqual(Array.from(OK, () => "key"));
  for (const change of [
    { timestamp: 1 },
    { agent_id: "support", capability_id: "other" },
    { signature: `ed25519:${"0".repeat(128)}` },
    { signature: "ed25519-batch:0/1:zz:" },
  ]) {
    const received = streamOf({});
    received[2]!.receipt = { ...received[2]!.receipt, ...change };
    expect(await findings(received)).toEqual(["ok", "ok", "signature", "ok", "ok"]);
  }
});

test("a value that is not a receipt, has no position, or is about a blocked event does not pass", async () => {
  const received = streamOf({});
  const { receipt } = received[1]!;
  const found = async (value: unknown) => {
    return (await findings(received.with(1, { ...received[1]!, receipt: value as JsonObject })))[1];
  };
  for (const value of [null, "receipt", [], {}, { ...receipt, extra: 1 }]) {
    expect(await found(value)).toBe("format");
  }
  expect(await found({ ...receipt, allowed: false, denial_reason: "no" })).toBe("blocked");
  for (const id of ["evt_A", "evt_A.0", "evt_A.02", "evt_A.x", ".2"]) {
    expect(await found({ ...receipt, event_id: id })).toBe("no-place");
  }
});

test("a check without a key, or with an invalid one, is a TypeError", () => {
  expect(() => checkReceipts({ trustedKeys: [] })).toThrow(TypeError);
  expect(() => checkReceipts({ trustedKeys: ["ed25519:abc"] })).toThrow(TypeError);
});
