import { CountersignError } from "@countersign/core";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SILENT_JOURNAL } from "../base/ports.js";
import { openPolicy } from "../serve/open-policy.js";
import { OPEN_POLICY } from "../testing/fixture.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import type { OperatorAct, OperatorActs } from "./operator-acts.js";
import { PolicyChanges } from "./policy-changes.js";
import { openPolicyHistory } from "./policy-history.js";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "countersign-policy-"));
  file = join(folder, "policy.yaml");
  writeFileSync(file, OPEN_POLICY, { mode: 0o640 });
});
// The history may still be written.
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));

const named = (name: string): string => OPEN_POLICY.replace("name: open", `name: ${name}`);

/** `null` for the built-in policy. */
function open(at: string | null = file, recordError?: Error, whileRecording = (): void => {}) {
  const recorded: OperatorAct[] = [];
  const record = async (act: OperatorAct): Promise<string> => {
    if (recordError !== undefined) throw recordError;
    recorded.push(act);
    whileRecording();
    return "receipt";
  };
  const acts = { operator: "ann", record, note: record } as unknown as OperatorActs;
  const policy = openPolicy(at ?? undefined);
  const clock = { now: () => 1000 };
  const history = openPolicyHistory(join(folder, "keys", "policy-history.jsonl"), SILENT_JOURNAL);
  const changes = new PolicyChanges({ policy, history, clock, reload: () => policy.reload() });
  const hash = (): string => policy.holder.current.hash;
  const apply = (text: string, expected = hash()) =>
    changes.apply({ acts, source: "api" }, { act: "policy-apply", text, expect: expected });
  return {
    policy,
    changes,
    history,
    hash,
    apply,
    recorded,
    changer: { acts, source: "api" } as const,
  };
}

test("a policy is written to the file, decides at once and keeps mode, comments and the former text", async () => {
  const { apply, hash, history, recorded, policy } = open();
  const before = hash();
  const text = `# why\n${named("second")}`;
  expect(await apply(text)).toEqual({ hash: hash(), changed: true });
  expect(readFileSync(file, "utf8")).toBe(text);
  expect(statSync(file).mode & 0o777).toBe(0o640);
  expect(readdirSync(folder).toSorted()).toEqual(["keys", "policy.yaml"]);
  expect(policy.holder.current.name).toBe("second");
  expect(recorded).toEqual([{ act: "policy-apply", hash: hash() }]);
  expect(history.items).toMatchObject([
    { hash: hash(), operator: "ann", source: "api", text, applied_at: 1000 },
    { hash: before, operator: "<file>", source: "file", text: OPEN_POLICY },
  ]);
  expect(statSync(join(folder, "keys", "policy-history.jsonl")).mode & 0o777).toBe(0o600);
});

test("a link stays a link, and the file that it names is written", async () => {
  const link = join(folder, "link.yaml");
  symlinkSync(file, link);
  const { apply } = open(link);
  await apply(named("linked"));
  expect(readFileSync(file, "utf8")).toContain("name: linked");
  expect(
    readdirSync(folder, { withFileTypes: true })
      .find(({ name }) => name === "link.yaml")
      ?.isSymbolicLink(),
  ).toBe(true);
});

test("a change against another policy than the active one, or over an edit of the file, is refused", async () => {
  const { apply, hash } = open();
  const before = hash();
  await apply(named("second"));
  await expect(apply(named("third"), before)).rejects.toMatchObject({
    code: "ERR_CONTROL_POLICY_CHANGED",
  });
  writeFileSync(file, named("by-hand"));
  await expect(apply(named("third"))).rejects.toMatchObject({ code: "ERR_CONTROL_POLICY_CHANGED" });
  expect(readFileSync(file, "utf8")).toContain("by-hand");
});

test("an edit of the file while the log writes the receipt is kept, and the log says that nothing was applied", async () => {
  const edit = (): void => writeFileSync(file, named("by-hand"));
  const { apply, recorded } = open(file, undefined, edit);
  await expect(apply(named("second"))).rejects.toMatchObject({
    code: "ERR_CONTROL_POLICY_CHANGED",
  });
  expect(readFileSync(file, "utf8")).toContain("by-hand");
  expect(recorded.map(({ act }) => act)).toEqual(["policy-apply", "policy-reload"]);
});

test("of two changes at once, one applies", async () => {
  const { apply } = open();
  const results = await Promise.allSettled([apply(named("a")), apply(named("b"))]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(readFileSync(file, "utf8")).toContain("name: a");
});

test("without a receipt nothing is written", async () => {
  const down = new CountersignError("ERR_LOG_CLOSED", "the log is closed", {});
  const { apply, hash } = open(file, down);
  const before = hash();
  await expect(apply(named("second"))).rejects.toMatchObject({ code: "ERR_LOG_CLOSED" });
  expect(readFileSync(file, "utf8")).toBe(OPEN_POLICY);
  expect(hash()).toBe(before);
});

test("a text that does not load is not written, and gives its lines", async () => {
  const { apply, recorded } = open();
  expect(await apply('hushspec: "0.1.0"\nrules: { ag_ui: { no_such_key: 1 } }\n')).toMatchObject({
    issues: [{ line: 2, message: expect.any(String) }],
  });
  expect(recorded).toEqual([]);
  expect(readFileSync(file, "utf8")).toBe(OPEN_POLICY);
});

test("a candidate extends the files that the policy extends, and no other", async () => {
  writeFileSync(join(folder, "base.yaml"), OPEN_POLICY);
  writeFileSync(join(folder, "secret.yaml"), OPEN_POLICY);
  writeFileSync(file, 'hushspec: "0.1.0"\nextends: base.yaml\n');
  const { policy } = open();
  const extending = (name: string) =>
    policy.check(`hushspec: "0.1.0"\nname: x\nextends: ${name}\n`);
  expect(extending("base.yaml").issues).toEqual([]);
  for (const name of ["secret.yaml", "../../etc/passwd", "/etc/passwd"])
    expect(extending(name).issues).toMatchObject([{ code: "extends" }]);
});

test("the built-in policy cannot be changed", async () => {
  const { changes, apply } = open(null);
  expect(changes.isWritable).toBe(false);
  await expect(apply(OPEN_POLICY)).rejects.toMatchObject({ code: "ERR_CONTROL_POLICY_READ_ONLY" });
});

// Root may write everything.
test.skipIf(process.getuid?.() === 0)("a file that cannot be written is not changed", async () => {
  chmodSync(file, 0o440);
  const { changes, apply } = open();
  expect(changes.isWritable).toBe(false);
  await expect(apply(named("x"))).rejects.toMatchObject({ code: "ERR_CONTROL_POLICY_READ_ONLY" });
});

test("a rollback writes an earlier text again; an unknown one, and one that now means something else, is refused", async () => {
  writeFileSync(join(folder, "base.yaml"), OPEN_POLICY);
  const { apply, changes, changer, hash, history } = open();
  const first = hash();
  await apply('hushspec: "0.1.0"\nname: plain\nrules: { ag_ui: { enabled: true } }\n');
  const expected = hash();
  expect(await changes.rollback(changer, { hash: first, expect: expected })).toEqual({
    hash: first,
    changed: true,
  });
  expect(readFileSync(file, "utf8")).toBe(OPEN_POLICY);
  expect(history.items.map((item) => item.hash)).toEqual([first, expected, first]);
  await expect(
    changes.rollback(changer, { hash: "0".repeat(64), expect: first }),
  ).rejects.toMatchObject({
    code: "ERR_CONTROL_POLICY_UNKNOWN",
  });
});

test("the mode of a block is switched in the file, and its comments stay", async () => {
  const text = `${OPEN_POLICY}# the end\n`;
  writeFileSync(file, text);
  const { changes, changer, hash, policy } = open();
  const change = { block: "policy", mode: "observe", expect: hash() } as const;
  await changes.setMode(changer, change);
  expect(policy.holder.current.mode).toBe("observe");
  expect(readFileSync(file, "utf8")).toContain("# the end");
  await changes.setMode(changer, { ...change, mode: "enforce", expect: hash() });
  expect(policy.holder.current.mode).toBe("enforce");
  expect(() => changes.setMode(changer, { ...change, block: "ag_ui_nothing" })).toThrow(
    /block must be/u,
  );
});

test("the history is bounded, survives a restart, and skips damaged lines", async () => {
  const at = join(folder, "h.jsonl");
  const record = (index: number, text = "x") => ({
    hash: String(index),
    applied_at: index,
    operator: "ann",
    source: "api" as const,
    text,
  });
  const history = openPolicyHistory(at, SILENT_JOURNAL);
  for (let index = 0; index < 105; index++) void history.add(record(index));
  expect(history.items.map(({ hash }) => hash).slice(0, 2)).toEqual(["104", "103"]);
  expect(history.items).toHaveLength(100);
  const long = "x".repeat(1_500_000);
  for (let index = 200; index < 204; index++) await history.add(record(index, long));
  expect(history.items.filter(({ text }) => text === long).map(({ hash }) => hash)).toEqual([
    "203",
    "202",
  ]);
  expect(statSync(at).size).toBeLessThan(5 * 1024 * 1024);
  writeFileSync(at, `not json\n${readFileSync(at, "utf8")}{"hash":1}\n`);
  const again = openPolicyHistory(at, SILENT_JOURNAL);
  expect(again.items).toEqual(history.items);
});

test("over the API: apply, history, mode, rollback, each a receipt of the operator; files and signals have theirs", async () => {
  const served: Served = await startServed(() => ({ pieces: [] }));
  const ask = async (path: string, body?: object) => {
    const response = await served.control(
      path,
      body === undefined ? {} : { method: "POST", body: JSON.stringify(body) },
    );
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  try {
    const { body: active } = await ask("/v1/policy");
    expect(active).toMatchObject({
      text: OPEN_POLICY,
      writable: true,
      file: join(served.folder, "policy.yaml"),
    });
    expect(active["lines"]).toMatchObject({ "ag_ui.capability": expect.any(Number) });
    const first = active["hash"];
    const checked = await ask("/v1/policy/check", {
      text: 'hushspec: "0.1.0"\nrules: { ag_ui: { x: 1 } }',
    });
    expect(checked.body).toMatchObject({ issues: [{ line: 2 }] });
    const applied = await ask("/v1/policy/apply", {
      text: named("second"),
      expect: first,
      comment: "for the audit",
    });
    expect(applied).toMatchObject({ status: 200, body: { changed: true, others: [] } });
    const again = await ask("/v1/policy/apply", { text: named("third"), expect: first });
    expect(again).toMatchObject({ status: 409, body: { code: "ERR_CONTROL_POLICY_CHANGED" } });
    const mode = await ask("/v1/policy/mode", {
      block: "ag_ui",
      mode: "observe",
      expect: applied.body["hash"],
    });
    expect(mode.status).toBe(200);
    const back = await ask("/v1/policy/rollback", { hash: first, expect: mode.body["hash"] });
    expect(back).toMatchObject({ status: 200, body: { hash: first } });
    served.running.reloadPolicy("signal");
    const { items } = (await ask("/v1/policy/history")).body as {
      items: Record<string, unknown>[];
    };
    expect(items.map(({ source, comment }) => [source, comment])).toEqual([
      ["api", undefined],
      ["api", undefined],
      ["api", "for the audit"],
      ["file", undefined],
    ]);
    const acts = async (): Promise<unknown> => {
      const receipts = await ask("/v1/receipts?agent_id=%3Coperator%3E&order=oldest");
      const entries = receipts.body["entries"] as {
        policy_hash: string;
        receipt: { event_type: { custom: string }; target: { component_id: string } };
      }[];
      return entries.map(({ receipt, policy_hash: hash }) => [
        receipt.event_type.custom,
        receipt.target.component_id,
        hash,
      ]);
    };
    const operator = items[0]?.["operator"];
    // A signal does not wait for its receipt.
    await vi.waitFor(async () =>
      expect(await acts()).toEqual([
        ["operator.policy-apply", operator, applied.body["hash"]],
        ["operator.policy-mode", operator, mode.body["hash"]],
        ["operator.policy-rollback", operator, first],
        ["operator.policy-reload", "<signal>", first],
      ]),
    );
  } finally {
    await served.stop();
  }
});
