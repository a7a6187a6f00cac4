import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { sseFrame } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { AUDIENCE, startIdentity } from "../../../packages/gateway/src/testing/identity.js";
import type { Identity } from "../../../packages/gateway/src/testing/identity.js";
import { startServed } from "../../../packages/gateway/src/testing/served.js";
import type { Served } from "../../../packages/gateway/src/testing/served.js";
import { entryTable } from "./commands/receipts/list-table.js";
import { runProgram } from "./testing/run-program.js";

/** Markup, a formula, quotes of every format, and what hides text. */
const MARKUP = `=HYPERLINK("http://x.example","\\"},{\\"x")<img src=x onerror=alert(1)>{{1}}'\`$(id)`;
const HOSTILE = `${MARKUP}\u200B\u00AD`.padEnd(900, "W");
/** The longest name of a person that the gateway accepts; it refuses control characters. */
const SUBJECT = `${MARKUP}\u200B\u00AD`.padEnd(256, "W");
/** Characters that a terminal obeys, and those that turn or hide text. */
// oxlint-disable-next-line no-control-regex -- These characters are what the test looks for.
const OBEYED = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u200B-\u200F\u202A-\u202E\u2066-\u2069]/u;

const POLICY = `hushspec: "0.1.0"
rules:
  ag_ui: { enabled: true, allow_display_without_capability: true }
  ag_ui_inbound: { enabled: true, default: allow }
`;

let identity: Identity;
let served: Served;
let configFile: string;
let folder: string;
const posted: string[] = [];
const receiver = createServer(async (request, response) => {
  let body = "";
  for await (const piece of request) body += String(piece);
  posted.push(body);
  response.end();
});
beforeAll(async () => {
  identity = await startIdentity();
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  folder = await mkdtemp(join(tmpdir(), "countersign-hostile-"));
  const secret = join(folder, "secret");
  await writeFile(secret, `whsec_${randomBytes(24).toString("base64")}`, { mode: 0o600 });
  served = await startServed(
    ({ body }) => {
      const { threadId, runId } = JSON.parse(body) as { threadId: string; runId: string };
      const events = [
        { type: "RUN_STARTED", threadId, runId },
        { type: "CUSTOM", name: HOSTILE, value: 1 },
        { type: "ACTIVITY_SNAPSHOT", messageId: "m", activityType: HOSTILE, content: {} },
        { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: HOSTILE },
        { type: "TOOL_CALL_END", toolCallId: "c" },
        { type: "RUN_FINISHED", threadId, runId },
      ];
      return { pieces: events.map(sseFrame) };
    },
    {
      policy: POLICY,
      config:
        `access: { mode: jwt, jwt: { issuer: "${identity.issuer}", audience: "${AUDIENCE}", jwks: "${identity.jwksUrl}" } }\n` +
        `webhook: { url: "${hook}", secret_file: "${secret}" }\n`,
    },
  );
  configFile = join(served.folder, "countersign.yaml");
  await writeFile(
    configFile,
    `agents: { support: { url: "http://127.0.0.1:9" } }\npolicy: policy.yaml\ncontrol: { port: ${new URL(served.running.controlUrl).port} }\n`,
  );
  vi.stubEnv("COUNTERSIGN_ADMIN_TOKEN", served.adminToken);
  const response = await fetch(`${served.running.dataUrl}/agents/support?session=s`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${await identity.token(SUBJECT)}`,
    },
    body: JSON.stringify({ protocolVersion: "1.0", threadId: "t", runId: "r", messages: [] }),
  });
  await response.text();
}, 60_000);
afterAll(async () => {
  vi.unstubAllEnvs();
  await served?.stop();
  await identity?.stop();
  receiver.close();
  await rm(folder, { recursive: true, force: true });
});

test("tables of the command have one line per entry, and no character that a terminal obeys", async () => {
  const at = async (...words: string[]): Promise<string> =>
    (await runProgram(...words, "--config", configFile)).out;
  const answer = await served.control("/v1/receipts?limit=100");
  const { entries } = (await answer.json()) as { entries: Parameters<typeof entryTable>[0] };
  const list = await vi.waitFor(async () => {
    const out = await at("receipts", "list");
    expect(out.trimEnd().split("\n")).toHaveLength(entries.length + 1);
    return out;
  }, 5000);
  const outputs = [
    list,
    stripVTControlCharacters(entryTable(entries, 80)),
    await at("receipts", "stats", "--by", "principal,event_type,tool,rule"),
    await at("runs", "list"),
    ...(await Promise.all(entries.map(({ seq }) => at("receipts", "show", String(seq))))),
    ...(await Promise.all(entries.map(({ seq }) => at("policy", "explain", String(seq))))),
  ];
  expect(list).toContain("HYPERLINK");
  for (const out of outputs) expect(out).not.toMatch(OBEYED);
  expect(
    (await at("runs", "list")).split("\n").filter((line) => line.includes("finished")),
  ).toHaveLength(1);
});

test("each line of the metrics is a comment or a sample, and no label has a name that a peer chose", async () => {
  const text = await (await served.control("/metrics")).text();
  const SAMPLE =
    /^[a-z_]+(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+\})? [-+.\deE]+(?:Inf|NaN)?(?: # .*)?$/u;
  const odd = text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#") && !SAMPLE.test(line));
  expect(odd).toEqual([]);
  expect(text).not.toContain("onerror");
});

test("log lines and events for a SIEM are one JSON document each, and bounded", async () => {
  await vi.waitFor(() => expect(posted.join("")).toContain("HYPERLINK"), 10_000);
  for (const body of posted) {
    expect(typeof JSON.parse(body)).toBe("object");
    expect(body).not.toContain("\n");
    expect(body.length).toBeLessThan(64 * 1024);
  }
  for (const line of served.lines) {
    expect(JSON.stringify(line).length).toBeLessThan(16 * 1024);
  }
});
