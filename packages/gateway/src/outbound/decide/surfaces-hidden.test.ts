import { canonicalJson, sha256Hex } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createInProcess, frames } from "../../testing/in-process.js";

const IDS = { threadId: "t", runId: "r" };
const INPUT = { ...IDS, messages: [{ id: "u", role: "user" as const, content: "Hi." }] };
const CATALOGUE = "https://a2ui.org/specification/v0_9/basic_catalog.json";
const URI = "ui://weather/forecast";
const PINNED = "<p>Sunny</p>";
const HASH = sha256Hex(
  canonicalJson({ html: PINNED, css: "", jsFunctions: "", jsExpressions: [] }),
);
/** In every value that must not reach the client. */
const MARK = "mallory";

const POLICY = `hushspec: "0.1.0"
name: hidden
rules:
  ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }
  ag_ui_components:
    allow_components: [chat-window, a2ui-surface, mcp-apps, note, card, render_a2ui, show_card, search, "a2ui:*", "mcp-app:ui://*"]
    default: block
  ag_ui_surfaces:
    catalogues: [{ id: "${CATALOGUE}" }]
    rendering_tools: [show_card]
    rendering_activities: [card]
    agent_calls: [openUrl]
  ag_ui_apps:
    servers: [weather]
    resources: [{ uri: "ui://weather/*", sha256: ${HASH} }]
    csp: { connect: [api.example.org] }
`;

/** The events that the client got, as text. Reasons of refusals name what was blocked, so errors are left out. */
async function deliveredOf(events: readonly object[], result?: unknown): Promise<string> {
  const gateway = createInProcess(POLICY);
  const end = { type: "RUN_FINISHED", ...IDS, ...(result === undefined ? {} : { result }) };
  const all = [{ type: "RUN_STARTED", ...IDS }, ...events, end];
  const { delivered } = await gateway.run(INPUT, frames(all));
  await gateway.close();
  return JSON.stringify(delivered.filter(({ type }) => type !== "RUN_ERROR"));
}

const create = { version: "v0.9", createSurface: { surfaceId: "s", catalogId: CATALOGUE } };
const update = (...components: object[]): object => ({
  version: "v0.9",
  updateComponents: { surfaceId: "s", components },
});
const honest = [create, update({ id: "root", component: "Text", text: "Hello" })];
const hostile = [create, update({ id: "root", component: MARK, text: "Hello" })];
const activity = (content: object, activityType: string): object => ({
  type: "ACTIVITY_SNAPSHOT",
  messageId: "a",
  activityType,
  content,
});
const call = (name: string, args: unknown): object[] => [
  { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: name },
  { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: JSON.stringify(args) },
  { type: "TOOL_CALL_END", toolCallId: "c" },
];

const member = fc.constantFrom("operations", "surface", "a2ui_json", "payload", "data", "items");
/** The operations below other members, as values or as texts. */
const hidden = fc
  .array(fc.tuple(member, fc.constantFrom("object", "list", "text")), {
    minLength: 1,
    maxLength: 3,
  })
  .map((levels) =>
    levels.reduce<unknown>((inner, [name, kind]) => {
      if (kind === "list") return { [name]: [inner] };
      return { [name]: kind === "text" ? JSON.stringify(inner) : inner };
    }, hostile),
  );
/** The members beside them where reference clients look. */
const beside = fc.constantFrom<object>(
  {},
  { a2ui_operations: honest },
  {
    surfaceId: "s",
    catalogId: CATALOGUE,
    components: [{ id: "root", component: "Text", text: "x" }],
  },
  { status: "building" },
  honest[0] as object,
);

test("operations below any member of a rendering activity or tool are judged", async () => {
  const channel = fc.constantFrom("a2ui-surface", "card", "render_a2ui", "show_card");
  await fc.assert(
    fc.asyncProperty(hidden, beside, channel, async (inner, outer, name) => {
      const content = { ...(inner as object), ...outer };
      fc.pre(JSON.stringify(content).includes(MARK));
      const isTool = name === "render_a2ui" || name === "show_card";
      const events = isTool ? call(name, content) : [activity(content, name)];
      expect(await deliveredOf(events)).not.toContain(MARK);
    }),
    { numRuns: 150 },
  );
});

const page = (html: string, ui: object = {}): object => ({
  uri: URI,
  mimeType: "text/html;profile=mcp-app",
  text: html,
  _meta: { ui },
});
const app = (serverId: unknown): object => ({ resourceUri: URI, serverId, toolInput: {} });

test("every app and every page of one payload is judged, in any order", async () => {
  const pages = fc.shuffledSubarray([page(PINNED), page(`<p>${MARK}</p>`), page(PINNED)], {
    minLength: 1,
  });
  const wrap = fc.constantFrom<(value: object) => unknown>(
    (value) => value,
    (value) => [value],
    (value) => JSON.stringify(value),
  );
  await fc.assert(
    fc.asyncProperty(pages, wrap, async (contents, wrapped) => {
      expect(await deliveredOf([], wrapped({ contents }))).not.toContain(MARK);
    }),
    { numRuns: 40 },
  );
  const server = fc.constantFrom<unknown>(MARK, [MARK], { name: MARK });
  const inner = fc.constantFrom<object>(
    { result: app("weather") },
    { result: { content: [{ type: "resource", resource: page(PINNED) }] } },
    { serverHash: "weather" },
  );
  await fc.assert(
    fc.asyncProperty(server, inner, async (name, more) => {
      expect(await deliveredOf([activity({ ...app(name), ...more }, "mcp-apps")])).not.toContain(
        MARK,
      );
    }),
    { numRuns: 30 },
  );
  expect(await deliveredOf([activity({ resourceUri: [MARK] }, "mcp-apps")])).not.toContain(MARK);
  expect(await deliveredOf([], { contents: [page(PINNED), page(PINNED)] })).toContain("Sunny");
});

test("domains of an app in any shape but a list of listed ones are blocked", async () => {
  const domain = `https://${MARK}.example`;
  const name = fc.constantFrom("connectDomains", "resourceDomains", "scriptDomains", "-", "csp");
  const value = fc.constantFrom<unknown>(domain, [domain], [[domain]], { a: domain }, [
    { a: domain },
  ]);
  await fc.assert(
    fc.asyncProperty(name, value, fc.boolean(), async (key, domains, isBare) => {
      const csp = isBare ? domain : { connectDomains: ["api.example.org"], [key]: domains };
      expect(await deliveredOf([], { contents: [page(PINNED, { csp })] })).not.toContain(MARK);
    }),
    { numRuns: 60 },
  );
  const csp = { connectDomains: ["api.example.org"], frameDomains: [], resourceDomains: null };
  expect(await deliveredOf([], { contents: [page(PINNED, { csp })] })).toContain("Sunny");
});

test("a URL of a function is judged as renderers coerce, bind and compute it", async () => {
  const address = `https://${MARK}.example/x`;
  const url = fc.constantFrom<unknown>(
    address,
    [address],
    [[address]],
    { path: "/u" },
    { call: "formatString", args: { value: address } },
  );
  const data = fc.constantFrom<unknown>(address, [address], [[address]]);
  await fc.assert(
    fc.asyncProperty(url, data, fc.boolean(), async (value, bound, isAgent) => {
      const callFunction = { call: "openUrl", args: { url: value } };
      const root = isAgent
        ? { id: "root", component: "Text", text: "x" }
        : { id: "root", component: "Button", child: "t", action: { functionCall: callFunction } };
      const operations = [
        create,
        update(root, { id: "t", component: "Text", text: "x" }),
        { version: "v0.9", updateDataModel: { surfaceId: "s", path: "/", value: { u: bound } } },
        ...(isAgent
          ? [{ version: "v1.0", callRendererFunction: { functionCallId: "f", callFunction } }]
          : []),
      ];
      const events = [activity({ a2ui_operations: operations }, "a2ui-surface")];
      expect(await deliveredOf(events)).not.toContain(MARK);
    }),
    { numRuns: 60 },
  );
});

test("operations in lines, in base64 for URLs and in texts over the limit are judged", async () => {
  const lines = hostile.map((one) => JSON.stringify(one));
  const resource = (body: object): string =>
    JSON.stringify({
      content: [
        {
          type: "resource",
          resource: { uri: "a2ui://s", mimeType: "application/a2ui+json", ...body },
        },
      ],
    });
  const text = JSON.stringify({ a2ui_operations: hostile, sign: "???>>>" });
  const forms = [
    lines.join("\n"),
    ["", ...lines, "{ no operation"].join("\r\n"),
    resource({ text: lines.join("\n") }),
    resource({ blob: Buffer.from(text).toString("base64url") }),
    resource({
      blob: Buffer.from(text)
        .toString("base64")
        .replaceAll(/(.{20})/g, "$1 ~\n"),
    }),
    JSON.stringify({ text: "x".repeat(9_000_000), a2ui_operations: hostile }),
  ];
  for (const content of forms) {
    const result = { type: "TOOL_CALL_RESULT", messageId: "m", toolCallId: "c", content };
    const delivered = await deliveredOf([...call("search", {}), result]);
    expect(delivered).not.toContain("TOOL_CALL_RESULT");
  }
  const ordinary = ["{ a: 1 }\n{ b: 2 }", '{"a":1}\n{"b":2}', `{"a":"${"x".repeat(9_000_000)}"}`];
  for (const content of ordinary) {
    const result = { type: "TOOL_CALL_RESULT", messageId: "m", toolCallId: "c", content };
    expect(await deliveredOf([...call("search", {}), result])).toContain("TOOL_CALL_RESULT");
  }
});

test("texts with many lines, pages or domains are undecided instead of slow", async () => {
  const line = JSON.stringify(create);
  const pages = { contents: Array.from({ length: 65 }, () => page(PINNED)) };
  const csp = { connectDomains: Array.from({ length: 1_001 }, () => "api.example.org") };
  const texts = [
    ["{ a2ui }\n".repeat(300), line].join(""),
    `${line}\n`.repeat(10_001),
    JSON.stringify(pages),
    JSON.stringify({ contents: [page(PINNED, { csp })] }),
  ];
  for (const content of texts) {
    const result = { type: "TOOL_CALL_RESULT", messageId: "m", toolCallId: "c", content };
    const delivered = await deliveredOf([...call("search", {}), result]);
    expect(delivered).not.toContain("TOOL_CALL_RESULT");
  }
});
