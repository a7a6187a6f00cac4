import { expect, test, vi } from "vitest";
import { createAgentStore } from "../store/create-agent-store.js";
import type { AgentSnapshot } from "../view/snapshot.js";
import { postSse } from "./post-sse.js";

const DOCUMENT = {
  type: "urn:countersign:problem:ERR_HISTORY_INVENTED",
  title: "A client may not send this",
  status: 403,
  code: "ERR_HISTORY_INVENTED",
  detail: "message 0 was never said",
  pointer: "/messages/0",
  remedy: "start a new thread",
  receipt: "agui-1",
};
const TYPE = "application/problem+json";
const STATUS_ONLY = {
  code: "ERR_CLIENT_CONNECT",
  message: "the agent answered with status 403",
  source: "client",
  status: 403,
};

async function ask(
  body: BodyInit | null,
  { status = 403, type = TYPE }: { status?: number; type?: string } = {},
): Promise<AgentSnapshot["problem"]> {
  const answer = (): Response => new Response(body, { status, headers: { "content-type": type } });
  const transport = postSse({ url: "/agent", fetch: () => Promise.resolve(answer()) });
  const store = createAgentStore({ transport, reconnect: false });
  return (await store.send("hello")).problem;
}

function drip(bytes: Uint8Array<ArrayBuffer>, ended = true): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at < bytes.length) controller.enqueue(bytes.slice(at, (at += 1)));
      else if (ended) controller.close();
      else return new Promise(() => {});
      return undefined;
    },
  });
}

test.each([TYPE, "Application/Problem+JSON; charset=utf-8"])(
  "a problem document of type %s tells why a server refused",
  async (type) => {
    expect(await ask(JSON.stringify(DOCUMENT), { type })).toEqual({
      code: "ERR_HISTORY_INVENTED",
      message: "message 0 was never said",
      source: "agent",
      status: 403,
      pointer: "/messages/0",
      remedy: "start a new thread",
      receipt: "agui-1",
    });
  },
);

test("a document without a detail speaks by its title, and the status is the answer's own", async () => {
  const { detail: _detail, receipt: _receipt, pointer: _at, remedy: _helps, ...rest } = DOCUMENT;
  expect(await ask(JSON.stringify({ ...rest, status: 200 }), { status: 409 })).toEqual({
    code: "ERR_HISTORY_INVENTED",
    message: "A client may not send this",
    source: "agent",
    status: 409,
  });
});

test.each([
  ["another type", JSON.stringify(DOCUMENT), "application/json"],
  ["a type that only begins alike", JSON.stringify(DOCUMENT), `${TYPE}x`],
  ["no body", null, TYPE],
  ["text that is no JSON", "{", TYPE],
  ["a key named twice", '{"code":"A","code":"B"}', TYPE],
  ["a list", JSON.stringify([DOCUMENT]), TYPE],
  ["no code", JSON.stringify({ ...DOCUMENT, code: undefined }), TYPE],
  ["an empty code", JSON.stringify({ ...DOCUMENT, code: "" }), TYPE],
  ["a code that is no text", JSON.stringify({ ...DOCUMENT, code: 403 }), TYPE],
  ["an inherited code", '{"__proto__":{"code":"ERR_A"}}', TYPE],
])("a response with %s is reported by its status alone", async (_, body, type) => {
  expect(await ask(body, { type })).toEqual(STATUS_ONLY);
});

test("the body of a response that is not an error is not read", async () => {
  const problem = await ask(JSON.stringify(DOCUMENT), { status: 202 });
  expect(problem).toMatchObject({ code: "ERR_CLIENT_CONNECT", status: 202 });
});

test("a document of 64 KB is read, one byte more is not, in one piece or in drops", async () => {
  const bytesOf = (size: number): Uint8Array<ArrayBuffer> => {
    const spare = size - JSON.stringify({ ...DOCUMENT, padding: "" }).length;
    return new TextEncoder().encode(JSON.stringify({ ...DOCUMENT, padding: "x".repeat(spare) }));
  };
  const [at, over] = [bytesOf(65_536), bytesOf(65_537)];
  expect(await ask(at)).toMatchObject({ code: DOCUMENT.code });
  expect(await ask(over)).toEqual(STATUS_ONLY);
  expect(await ask(drip(at))).toMatchObject({ code: DOCUMENT.code });
  expect(await ask(drip(over))).toEqual(STATUS_ONLY);
});

test("a document that never ends is given up", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const half = new TextEncoder().encode(JSON.stringify(DOCUMENT).slice(0, -1));
    const asked = ask(drip(half, false));
    await vi.advanceTimersByTimeAsync(5000);
    expect(await asked).toEqual(STATUS_ONLY);
  } finally {
    vi.useRealTimers();
  }
});

test("a truncated document is reported by its status alone", async () => {
  const torn = new ReadableStream({ pull: (controller) => controller.error(new Error("torn")) });
  expect(await ask(torn)).toEqual(STATUS_ONLY);
});
