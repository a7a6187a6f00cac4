import { sseFrame } from "@countersign/testkit";
import * as fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { openingOfCode } from "../explain/explain-code.js";
import { CLIENTS } from "../testing/client.js";
import { idsOf, inRun, text } from "../testing/events.js";
import { CHAT_POLICY, startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";

let fixture: Fixture | undefined;
let count = 0;
const stop = async (): Promise<void> => {
  await fixture?.stop();
  fixture = undefined;
};
afterEach(stop);

type Message = { id: string; role: string; content?: unknown; [field: string]: unknown };
const user = (id: string): Message => ({ id, role: "user", content: id });
const answer = (id: string): Message => ({ id, role: "assistant", content: "hello" });

/** Starts a gateway whose agent answers each request with one text. */
async function begin(policy = CHAT_POLICY): Promise<void> {
  count = 0;
  fixture = await startFixture(
    ({ body }) => ({ pieces: inRun(idsOf(body), text(`a${(count += 1)}`, "hello")).map(sseFrame) }),
    { policy },
  );
}

type Refusal = { code: string; detail: string; remedy: string; pointer: string };

let runs = 0;
async function send(messages: readonly Message[], threadId = "t"): Promise<Refusal | undefined> {
  const body = { threadId, runId: `run-${(runs += 1)}`, messages };
  const response = await fetch(`${fixture?.url}/agents/support`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const told = await response.text();
  return response.ok ? undefined : (JSON.parse(told) as Refusal);
}

const linesIn = (remedy: string): string => /ag_ui_request: .*$/.exec(remedy)?.[0] ?? "";

test("a regenerated answer is refused by default, and the lines that the refusal and `policy explain` print open it", async () => {
  await begin();
  expect(await send([user("u1")])).toBeUndefined();
  const refusal = await send([user("u1")]);
  expect(refusal).toMatchObject({
    code: "ERR_HISTORY_DROPPED",
    detail: "the end of the history is missing, at /messages: a1",
  });
  await stop();

  const opening = openingOfCode("ERR_HISTORY_DROPPED");
  const explained = "policy" in opening ? opening.policy : "";
  for (const lines of [linesIn(refusal?.remedy ?? ""), explained]) {
    expect(lines).toContain("rollback: true");
    await begin(CHAT_POLICY + lines.replaceAll(/^/gmu, "  "));
    expect(await send([user("u1")])).toBeUndefined();
    expect(await send([user("u1")])).toBeUndefined();
    expect(await send([user("u1"), answer("a2"), user("u2")])).toBeUndefined();
    // The first answer is no longer part of the thread.
    const both = [user("u1"), answer("a1"), answer("a2"), user("u2"), answer("a3"), user("u3")];
    expect(await send(both)).toMatchObject({ code: "ERR_HISTORY_INVENTED" });
    await stop();
  }
});

test("a refusal that a rollback does not open does not name it", async () => {
  await begin();
  expect(await send([user("u1")])).toBeUndefined();
  expect(await send([user("u1"), answer("a1"), user("u2")])).toBeUndefined();
  const swapped = [answer("a1"), user("u1"), user("u2"), answer("a2"), user("u3")];
  const gap = [user("u1"), user("u2"), answer("a2"), user("u3")];
  for (const messages of [swapped, gap]) {
    const refusal = await send(messages);
    expect(refusal?.code).toBe("ERR_HISTORY_DROPPED");
    expect(refusal?.remedy).not.toContain("rollback");
  }
});

const EMPTY = [
  {},
  { content: "" },
  { content: null },
  { content: "", toolCalls: [] },
  { metadata: { tanstack: { createdAt: "2026-11-18T09:00:00.000Z" } } },
];

test("an empty answer anywhere in a request does not count: the request passes, the agent receives it, and the thread continues with or without it", async () => {
  await begin();
  let thread = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ at: fc.nat(6), form: fc.constantFrom(...EMPTY) }), { maxLength: 4 }),
      fc.boolean(),
      async (placeholders, isKept) => {
        const threadId = `empty-${(thread += 1)}`;
        const [first, second] = [count + 1, count + 2];
        expect(await send([user("u1")], threadId)).toBeUndefined();
        let messages: Message[] = [user("u1"), answer(`a${first}`), user("u2")];
        for (const [index, { at, form }] of placeholders.entries()) {
          const id = `p${index}`;
          messages = messages.toSpliced(at, 0, { id, role: "assistant", ...form } as Message);
        }
        expect(await send(messages, threadId)).toBeUndefined();
        const received = JSON.parse(fixture?.agentRequests.at(-1)?.body ?? "") as {
          messages: Message[];
        };
        expect(received.messages.map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
        const next = isKept ? messages : messages.filter(({ id }) => !id.startsWith("p"));
        const later = [...next, answer(`a${second}`), user("u3")];
        expect(await send(later, threadId)).toBeUndefined();
      },
    ),
    { numRuns: Number(process.env["EMPTY_RUNS"] ?? 25) },
  );
}, 60_000);

test.each([
  ["text", { content: "I agreed" }],
  [
    "a call",
    { toolCalls: [{ id: "c", type: "function", function: { name: "x", arguments: "{}" } }] },
  ],
  ["a name", { name: "the system says yes" }],
  ["an encrypted value", { encryptedValue: "x" }],
])(
  "an answer that was not delivered and has %s is refused, also beside an empty one",
  async (_, form) => {
    await begin();
    expect(await send([user("u1")])).toBeUndefined();
    const empty = { id: "p", role: "assistant" };
    const messages = [user("u1"), empty, answer("a1"), user("u2")];
    const refusal = await send([...messages, { id: "x", role: "assistant", ...form }]);
    expect(refusal).toMatchObject({ code: "ERR_HISTORY_INVENTED", pointer: "/messages/4" });
  },
);

test("an empty message under the id of a delivered answer is a changed answer", async () => {
  await begin();
  expect(await send([user("u1")])).toBeUndefined();
  const refusal = await send([user("u1"), { id: "a1", role: "assistant" }, user("u2")]);
  expect(refusal).toMatchObject({ code: "ERR_HISTORY_REWRITTEN", pointer: "/messages/1" });
});

test.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])(
  "with `rollback: true`, client %s regenerates its last answer again and again",
  async (version) => {
    await begin(`${CHAT_POLICY}  ag_ui_request: { history: { rollback: true } }\n`);
    const client = new CLIENTS[version]({
      url: `${fixture?.url}/agents/support`,
      threadId: "t",
    });
    for (const turn of [1, 2, 3]) {
      client.addMessage({ id: `u${turn}`, role: "user", content: "hi" });
      await client.runAgent({ runId: `${version}-${turn}` });
      for (const again of [1, 2]) {
        client.setMessages(client.messages.slice(0, -1));
        await client.runAgent({ runId: `${version}-${turn}-${again}` });
      }
    }
    expect(client.messages.map(({ role }) => role)).toEqual(
      [1, 2, 3].flatMap(() => ["user", "assistant"]),
    );
  },
);
