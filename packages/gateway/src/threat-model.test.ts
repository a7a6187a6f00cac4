import { sseFrame } from "@countersign/testkit";
import type { FakeAnswer } from "@countersign/testkit";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { idsOf, inRun, text } from "./testing/events.js";
import { startFixture } from "./testing/fixture.js";
import type { Fixture } from "./testing/fixture.js";
import { sendTo } from "./testing/begun-thread.js";
import { THREATS } from "./testing/threats.js";
import type { Attack, Threat } from "./testing/threats.js";

const root = new URL("../../../", import.meta.url);
const STARTER = readFileSync(new URL("packages/policy/policies/starter.yaml", root), "utf8");
const ENFORCED = STARTER.replace("mode: observe", "mode: enforce");
const PAGE = new URL("docs/security/threat-model.md", root);
const ASK = { name: "ask", description: "asks the person", parameters: { type: "object" } };
const FIRST = {
  protocolVersion: "1.0",
  messages: [{ id: "u1", role: "user", content: "hello" }],
  tools: [ASK],
};

let answer: (body: string) => FakeAnswer;
let fixture: Fixture;
let threads = 0;

beforeAll(async () => {
  fixture = await startFixture(({ body }) => answer(body), { policy: ENFORCED });
});
afterAll(() => fixture.stop());

/** The rules that withheld something since an entry of the log; `delivered` for none. */
function blockedSince(entries: number): string {
  const rules = fixture.recorder.drafts
    .slice(entries)
    .filter(({ receipt }) => !receipt.allowed)
    .map(({ rule }) => rule ?? "");
  return rules.length === 0 ? "delivered" : [...new Set(rules)].toSorted().join(", ");
}

const inARun =
  (events: readonly object[]) =>
  (body: string): FakeAnswer => ({ pieces: inRun(idsOf(body), events).map(sseFrame) });

async function carryOut(attack: Attack): Promise<string> {
  const threadId = `t${++threads}`;
  const send = (fields: object) =>
    sendTo(fixture, JSON.stringify({ ...FIRST, threadId, ...fields }));
  if ("request" in attack) {
    const { path = "/ag-ui/run", ...rest } = attack.request;
    const response = await fetch(`${fixture.url}${path}`, rest);
    await response.body?.cancel();
    return String(response.status);
  }
  if ("agent" in attack) {
    answer = inARun(attack.agent);
    const entries = fixture.recorder.drafts.length;
    await send({ runId: "r1" });
    return blockedSince(entries);
  }
  if ("bytes" in attack) {
    answer = () => ({
      ...(attack.headers === undefined ? {} : { headers: attack.headers }),
      pieces: [typeof attack.bytes === "string" ? attack.bytes : Buffer.from(attack.bytes)],
    });
    const { status, text: body, code } = await send({ runId: "r1" });
    const [, ended] = /"code":"([^"]+)"/u.exec(body) ?? [];
    return code ?? ended ?? String(status);
  }
  answer = inARun(text("a1", "I refuse"));
  await send({ runId: "r1" });
  const { status, code } = await send({ runId: "r2", ...attack.browser });
  return code ?? (status === 200 ? "accepted" : String(status));
}

test.each(
  THREATS.filter(({ attacks }) => attacks.length > 0).map(
    (threat) => [threat.number, threat] as const,
  ),
)("attack %i has the outcome that the page states", async (_number, { attacks }) => {
  const outcomes = [];
  for (const attack of attacks) outcomes.push(await carryOut(attack));
  expect(outcomes).toEqual(attacks.map(({ outcome }) => outcome));
});

test("every attack is numbered, and carried out here or in a test that exists", () => {
  expect(THREATS.map(({ number }) => number)).toEqual(
    Array.from({ length: 48 }, (_, at) => at + 1),
  );
  for (const { attacks, tests = [] } of THREATS) {
    expect(attacks.length + tests.length).toBeGreaterThan(0);
    for (const path of tests) expect(existsSync(new URL(path, root)), path).toBe(true);
  }
});

function rowOf({ number, attack, state, defence, mapping, attacks, tests = [] }: Threat): string {
  const outcomes = [...new Set(attacks.map(({ outcome }) => `\`${outcome}\``))];
  const links = tests.map((path) => `[${path.split("/").at(-1)}](../../${path})`);
  const shown = [...outcomes, ...links].join(", ");
  return `| ${number} | ${attack}. | ${state} | ${defence}. | ${shown} | ${mapping} |`;
}

test("the page has every attack with its state and the outcome of its test", () => {
  const rows = THREATS.map(rowOf).join("\n");
  const page = readFileSync(PAGE, "utf8");
  const table = /(\|---\|[-|]+\n)(?:\| \d+ \|.*\n)*/u;
  if (process.env["COUNTERSIGN_UPDATE_PAGES"] === "1") {
    writeFileSync(
      PAGE,
      page.replace(table, (_all, head: string) => `${head}${rows}\n`),
    );
  }
  const [, ...lines] = (table.exec(readFileSync(PAGE, "utf8"))?.[0] ?? "").trimEnd().split("\n");
  expect(lines.join("\n")).toBe(rows);
});
