import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createJournal, loadConfig, startGateway } from "@countersign/gateway";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram as run } from "../../testing/run-program.js";

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "countersign-diff-"));
});
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

const file = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};
const BEFORE = "ag_ui: { allow_display_without_capability: true }\n";
const AFTER = `${BEFORE}ag_ui_classify: { state: [{ match: "/ui/**", classification: display }] }\n`;

test("the diff reports what a policy opens by block and as a whole, and fails with --fail-on", async () => {
  const [before, after] = [file("a.yaml", BEFORE), file("b.yaml", AFTER)];
  const { code, out } = await run("policy", "diff", before, after);
  expect(code).toBe(0);
  expect(out).toContain("looser   ag_ui_classify");
  expect(out).toContain("looser   state /ui/** added: as built in → display");
  expect(out).toContain("looser   as a whole");
  expect((await run("policy", "diff", before, after, "--fail-on", "looser")).code).toBe(1);
  expect((await run("policy", "diff", before, after, "--fail-on", "stricter")).code).toBe(0);
  expect((await run("policy", "diff", after, before, "--fail-on", "looser")).code).toBe(0);
  expect((await run("policy", "diff", after, after, "--fail-on", "change")).code).toBe(0);
  const json = JSON.parse((await run("policy", "diff", before, after, "--json")).out);
  expect(json).toMatchObject({
    verdict: "looser",
    before: { source: before, mode: "enforce" },
    blocks: [{ block: "ag_ui_classify", verdict: "looser", changes: [{ kind: "added" }] }],
  });
});

test("a recording says how many decisions would change, and which path of the state it is about", async () => {
  const capture = file(
    "c.agui.jsonl",
    '{"type":"RUN_STARTED","threadId":"t","runId":"r"}\n{"type":"STATE_SNAPSHOT","snapshot":{"ui":{"theme":"dark"}}}\n',
  );
  const args = [file("a.yaml", BEFORE), file("b.yaml", AFTER), "--against", capture];
  const { out } = await run("policy", "diff", ...args);
  expect(out).toContain("of 2 recorded decisions 1 would change: 0 newly blocked, 1 newly allowed");
  expect(out).toContain("ag_ui.capability at /ui/theme");
  const json = JSON.parse((await run("policy", "diff", ...args, "--json")).out);
  expect(json.recorded).toMatchObject({ judged: 2, newlyAllowed: 1, unchanged: 1 });
});

test("one policy alone is compared with what decides at the gateway, which has to know the token", async () => {
  file("policy.yaml", BEFORE);
  const text = `agents: { a: { url: "http://127.0.0.1:9/" } }\npolicy: policy.yaml\nlisten: { port: 0 }\ncontrol: { port: 0 }\n`;
  const config = loadConfig(text, { file: join(directory, "countersign.yaml"), environment: {} });
  const running = await startGateway(config, { journal: createJournal({ level: "silent" }) });
  try {
    const { port } = new URL(running.controlUrl);
    const pointed = file(
      "pointed.yaml",
      text.replace("control: { port: 0 }", `control: { port: ${port} }`),
    );
    const token = file("token", `${running.freshAdminToken ?? ""}\n`);
    const flags = ["--config", pointed, "--token-file", token];
    const { out } = await run("policy", "diff", file("b.yaml", AFTER), ...flags);
    expect(out).toContain(`before http://127.0.0.1:${port}`);
    expect(out).toContain("looser   as a whole");
    const same = await run(
      "policy",
      "diff",
      running.controlUrl,
      join(directory, "policy.yaml"),
      ...flags,
    );
    expect(same.out).toContain("same     as a whole");
    const wrong = file("wrong", "nobody");
    await expect(
      run("policy", "diff", join(directory, "b.yaml"), "--config", pointed, "--token-file", wrong),
    ).rejects.toMatchObject({ code: "ERR_CLI_CONTROL", message: expect.stringContaining("token") });
  } finally {
    await running.close();
  }
});

const listening = (server: Server): Promise<void> =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

test("the admin token goes nowhere but where it was sent", async () => {
  let seen = 0;
  const elsewhere = createServer((_request, response) => {
    seen += 1;
    response.end("{}");
  });
  await listening(elsewhere);
  const { port } = elsewhere.address() as AddressInfo;
  const server = createServer((_request, response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${port}/v1/policy` }).end();
  });
  await listening(server);
  try {
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const args = [file("b.yaml", AFTER), "--token-file", file("token", "secret")];
    await expect(run("policy", "diff", address, ...args)).rejects.toMatchObject({
      code: "ERR_CLI_CONTROL",
    });
    expect(seen).toBe(0);
    await expect(run("policy", "diff", "http://gateway.example:8081", ...args)).rejects.toThrow(
      "unencrypted",
    );
  } finally {
    server.close();
    elsewhere.close();
  }
});
