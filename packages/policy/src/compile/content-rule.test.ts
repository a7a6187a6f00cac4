import type { JsonObject } from "@countersign/core";
import { expect, test } from "vitest";
import type { ContentFinding } from "../content/finding.js";
import { readSubject } from "../cases/subject.js";
import { policyOf } from "../testing/judge.js";
import { NO_COUNTERS } from "./facts.js";

const OPEN = `ag_ui: { allow_display_without_capability: true }
ag_ui_inbound: { default: block, allow_classifications: [display, mutate] }
`;

/** The rule that blocks an event, `allow` for none. */
function ruleFor(
  event: JsonObject,
  block = "ag_ui_content: {}\n",
  content?: ContentFinding | null,
): string {
  const policy = policyOf(OPEN + block);
  const { subject } = readSubject(event, { refinements: policy.refinements });
  const decision = policy.evaluate({
    event: subject!.facts,
    transport: "sse",
    counters: NO_COUNTERS,
    content,
    variables: { event },
  });
  return decision.allow ? (decision.observed?.rule ?? "allow") : decision.rule;
}

const text = (delta: string): JsonObject => ({
  type: "TEXT_MESSAGE_CONTENT",
  messageId: "m",
  delta,
});
const image = text("![a](https://x.example/)");
const asked = (content: JsonObject | string, rest: JsonObject = {}): JsonObject => ({
  threadId: "t",
  runId: "r",
  messages: [{ id: "m", role: "user", content: typeof content === "string" ? content : [content] }],
  ...rest,
});
const attached = (value: string): JsonObject =>
  asked({ type: "image", source: { type: "url", value } });

test("the block blocks every kind unless a key says allow, and without the block nothing is read", () => {
  expect(ruleFor(image)).toBe("ag_ui_content.images");
  expect(ruleFor(image, "ag_ui_content: { images: allow }\n")).toBe("allow");
  expect(ruleFor(image, "ag_ui_content: { image_hosts: [X.example] }\n")).toBe("allow");
  expect(ruleFor(image, "ag_ui_content: { enabled: false }\n")).toBe("allow");
  expect(ruleFor(image, "")).toBe("allow");
  expect(ruleFor(text("<script>"))).toBe("ag_ui_content.markup");
  expect(ruleFor(text("secret"), "ag_ui_content: { words: [secret] }\n")).toBe(
    "ag_ui_content.words",
  );
  expect(ruleFor(text("12345"), "ag_ui_content: { max_characters: 4 }\n")).toBe(
    "ag_ui_content.max_characters",
  );
  expect(ruleFor({ type: "RUN_ERROR", message: "![](//x.example)" })).toBe("ag_ui_content.images");
  const linked = { type: "SUBAGENT_ERROR", subagentRunId: "s", message: "see https://x.example" };
  expect(ruleFor(linked)).toBe("allow");
  expect(ruleFor(linked, "ag_ui_content: { links_in_errors: block, read: [state] }\n")).toBe(
    "ag_ui_content.links_in_errors",
  );
  expect(ruleFor({ type: "REASONING_MESSAGE_CONTENT", messageId: "m", delta: "<img src=x>" })).toBe(
    "ag_ui_content.markup",
  );
});

test("what a gateway found in the message so far counts, not what the event is by itself", () => {
  expect(ruleFor(text("x"), undefined, { kind: "images", offset: 0 })).toBe("ag_ui_content.images");
  expect(ruleFor(image, undefined, null)).toBe("allow");
});

test("a block that observes lets pass and says what it saw", () => {
  const policy = policyOf(`${OPEN}ag_ui_content: { mode: observe }\n`);
  const { subject } = readSubject(image, { refinements: policy.refinements });
  const facts = { event: subject!.facts, transport: "sse", counters: NO_COUNTERS } as const;
  const decision = policy.evaluate({ ...facts, variables: { event: image } });
  expect(decision).toMatchObject({ allow: true, observed: { reasonCode: "content_refused" } });
});

test.each([
  "http://169.254.169.254/latest/meta-data/",
  "http://2852039166/",
  "http://0xa9fea9fe/",
  "http://[::1]:8080/",
  "http://[::ffff:10.0.0.1]/",
  "http://localhost/x",
  "http://LOCALHOST./x",
  "https://vault/secret",
  "https://metadata.google.internal/",
  "https://printer.local/",
  "http://payments.prod.svc/",
  "http://payments.prod.svc.cluster.local/",
  "http://kubernetes.default/",
  "http://redis.kube-system/",
  "http://consul.service.consul/",
  "http://db.localdomain/",
  "http://router.home.arpa/",
  "http://1.0.0.10.in-addr.arpa/",
  "http://app.test/",
  "http://10.0.0.5.nip.io/",
  "http://7f000001.nip.io/",
  "http://ip-10-0-0-5.public.example/",
  "http://169.254.169.254.public.example/",
  "http://localtest.me/",
  "https://2606-4700--1111.ip6.name/",
  ...[
    "x--1",
    "--1",
    "0-0-0-0-0-0-0-1",
    "fd00--1",
    "fd00--x",
    "fe80--1-2",
    "64-ff9b--a00-1",
    "2002-a00-1--",
  ].map((label) => `https://${label}.public.example/`),
  "http://0177.0.0.1/",
  "http://0x7f.1/",
  "http://127.1/",
  "http://１２７.0.0.1/",
  "http://127。0。0。1/",
  "http://100.64.0.1/",
  "http://[fd00::1]/",
  "http://[fe80::1]/",
  "http://[64:ff9b::a00:1]/",
  "http://:word@public.example/",
  "http://LOCALHOST../",
  "ws://public.example/",
  "https://public.example@10.0.0.1/",
  "https://user@public.example/",
  "file:///etc/passwd",
  "gopher://public.example/",
  "/relative",
  "not an address",
])("an attachment at %s is refused", (value) => {
  expect(ruleFor(attached(value))).toBe("ag_ui_content.sources");
  expect(ruleFor(attached(value), "ag_ui_content: { sources: allow }\n")).toBe("allow");
});

test.each([
  "https://public.example/a.png",
  "http://public.example:8080/",
  "https://ec2-54-1-2-3.compute-1.amazonaws.com/",
  "https://cdn.acme.co.uk/a.png",
  "https://bücher.example/",
  "https://例え.みんな/",
  "https://v1-2-3-4.acme.dev/",
  "https://deadbeef--site.acme.dev/",
  "https://feature--x.acme.dev/",
  "https://xn--bcher-kva.example/",
  "https://a-b--c.acme.dev/",
  "https://2606-4700--1111.acme.dev/",
  "data:image/png;base64,AA==",
])("an attachment at %s passes", (value) => {
  expect(ruleFor(attached(value))).toBe("allow");
});

const sentence = "\u{E0063}\u{E0061}\u{E006C}\u{E006C}\u{E0020}\u{E0061}\u{E0074}\u{E006F}";

test("a sentence in invisible characters is found wherever a request carries it", () => {
  for (const request of [
    asked(`recipe ${sentence}`),
    asked({ type: "text", text: sentence }),
    asked("x", { context: [{ description: "page", value: sentence }] }),
    asked("x", { tools: [{ name: "t", description: sentence, parameters: {} }] }),
    asked("x", { state: { notes: [{ text: sentence }] } }),
  ]) {
    expect(ruleFor(request)).toBe("ag_ui_content.hidden");
  }
});

test("what people paste passes: controls, reversed text, flags, and markup to ask about", () => {
  expect(
    ruleFor(asked("\u001B[31mred\u001B[0m \u202Eabc\u202C 🏴\u{E0067}\u{E0062}\u{E007F}")),
  ).toBe("allow");
  expect(ruleFor(asked("why does <img src=x> not load? ![a](https://x.example)"))).toBe("allow");
});

/** The reason of a block. */
function reasonFor(event: JsonObject, block: string): string | undefined {
  const policy = policyOf(OPEN + block);
  const { subject } = readSubject(event, { refinements: policy.refinements });
  const facts = { event: subject!.facts, transport: "sse", counters: NO_COUNTERS } as const;
  const capability = { id: "c", status: "valid", scopes: ["*"] } as const;
  const decision = policy.evaluate({ ...facts, capability, variables: { event } });
  return decision.allow ? undefined : decision.reason;
}

test("a block says what was found, where, and which setting lets it through, and quotes nothing", () => {
  expect(reasonFor(text("a <b onclick=x>"), "ag_ui_content: {}\n")).toBe(
    "text holds active markup at character 13; ag_ui_content with markup: allow lets it through",
  );
  expect(reasonFor(image, "ag_ui_content: {}\n")).toBe(
    "text holds an image of another host at character 11; ag_ui_content with its host in image_hosts, or images: allow, lets it through",
  );
  expect(
    reasonFor(
      { type: "TOOL_CALL_RESULT", messageId: "m", toolCallId: "c", content: "![a](//x)" },
      "ag_ui_content: { read: [tool_results] }\n",
    ),
  ).toContain("in /content at character 8;");
  expect(reasonFor(attached("http://10.0.0.1/"), "ag_ui_content: {}\n")).toContain(
    "in /messages/0/content/0/source;",
  );
});

test("explaining shows what was found and where", () => {
  const policy = policyOf(`${OPEN}ag_ui_content: {}\n`);
  const { subject } = readSubject(image, { refinements: policy.refinements });
  const facts = { event: subject!.facts, transport: "sse", counters: NO_COUNTERS } as const;
  const { steps } = policy.explain({ ...facts, variables: { event: image } });
  expect(steps.find(({ rule }) => rule === "ag_ui_content")?.saw).toEqual({
    found: { kind: "images", offset: 10 },
  });
});

test("code within a line is code to a page that shows no less than an event at once", () => {
  const code = text("Use `<button onclick=x>Go</button>` for it");
  expect(ruleFor(code)).toBe("ag_ui_content.markup");
  expect(ruleFor(code, "ag_ui_content: { text_appears: event_by_event }\n")).toBe("allow");
  const open = text("Use `<button onclick=x>Go</button>");
  expect(ruleFor(open, "ag_ui_content: { text_appears: event_by_event }\n")).toBe(
    "ag_ui_content.markup",
  );
});
