import { afterEach, expect, test } from "vitest";
import { sseFrame } from "@countersign/testkit";
import { idsOf, inRun } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";

let fixture: Fixture;
afterEach(() => fixture.stop());

async function begin(rules: string): Promise<void> {
  const policy = `hushspec: "0.1.0"
rules:
  ag_ui: { allow_display_without_capability: true }
${rules}`;
  fixture = await startFixture(({ body }) => ({ pieces: inRun(idsOf(body), []).map(sseFrame) }), {
    policy,
  });
}

let runs = 0;
type Problem = { code?: string; detail?: string; pointer?: string; remedy?: string };
async function send(fields: object): Promise<Problem> {
  runs += 1;
  const body = {
    threadId: `t${runs}`,
    runId: "r",
    protocolVersion: "1.0",
    messages: [],
    ...fields,
  };
  const response = await fetch(`${fixture.url}/agents/support`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return response.ok ? {} : (JSON.parse(text) as Problem);
}

const PROPS = "  ag_ui_request: { forwarded_props: { allow: [locale] } }\n";

test("one policy line is enough for forwarded properties, and a refusal names the missing line", async () => {
  await begin("");
  const refused = await send({ forwardedProps: { locale: "de" } });
  expect(refused).toMatchObject({
    code: "ERR_FORWARDED_PROPS_REFUSED",
    pointer: "/forwardedProps/locale",
    remedy:
      "add to the policy under rules: ag_ui_request: { forwarded_props: { allow: [locale] } }",
  });
  await fixture.stop();
  await begin(PROPS);
  expect(await send({ forwardedProps: { locale: "de" } })).toEqual({});
  expect(await send({ forwardedProps: { locale: "de", user: "x" } })).toMatchObject({
    pointer: "/forwardedProps/user",
  });
});

test("the refusal names the token that a policy requires for forwarded properties", async () => {
  const mutate = "  ag_ui_classify: { input: { forwarded_props: { classification: mutate } } }\n";
  await begin(PROPS + mutate);
  expect(await send({ forwardedProps: { locale: "de" } })).toMatchObject({
    code: "ERR_INBOUND_BLOCKED",
    pointer: "/forwardedProps",
    remedy: expect.stringContaining("input: { forwarded_props: { classification: display } }"),
  });
});

const TOOL = { name: "draw", description: "", parameters: { type: "object" } };
const user = { id: "u", role: "user", content: "hello" };

test.each([
  ["state", { state: { ui: 1 } }, "/state/ui", 'state: [{ match: "/ui/**", classification'],
  ["a key that is no word", { state: { "a b@c": 1 } }, "/state", 'match: "/…/**"'],
  ["a list as state", { state: [1] }, "/state", "countersign policy explain"],
  [
    "an answer",
    { messages: [user], resume: [{ interruptId: "i", status: "resolved" }] },
    "/resume",
    "input: { resume:",
  ],
  [
    "a declared tool",
    { messages: [user], tools: [TOOL] },
    "/tools/0",
    "countersign policy explain",
  ],
  [
    "a picture of the inside",
    {
      messages: [
        user,
        {
          id: "v",
          role: "user",
          content: [{ type: "image", source: { type: "url", value: "http://localhost/x" } }],
        },
      ],
    },
    "/messages/1",
    "countersign policy explain",
  ],
])("a block by the policy names the part of the request: %s", async (_what, fields, at, remedy) => {
  await begin(`  ag_ui_request: { enabled: false }
  ag_ui_tools: { declare: { default: block } }
  ag_ui_content: {}
`);
  const problem = await send(fields);
  expect(problem.code).toBe("ERR_INBOUND_BLOCKED");
  expect(problem.pointer).toBe(at);
  expect(problem.remedy).toContain(remedy);
  expect(JSON.stringify(problem)).not.toMatch(/localhost|a b@c/);
});

test("a block of a part of the state names its path, as deep as the policy distinguishes", async () => {
  await begin(`  ag_ui_classify: { state: [{ match: "/ui/theme", classification: display }] }
`);
  expect(await send({ state: { ui: { theme: "dark", role: { admin: true } } } })).toMatchObject({
    code: "ERR_INBOUND_BLOCKED",
    pointer: "/state/ui/role/admin",
    remedy: expect.stringContaining('match: "/ui/**"'),
  });
  const secret = await send({ state: { ui: { theme: "dark", "a b@c": { admin: true } } } });
  expect(secret.pointer).toBe("/state/ui");
});
