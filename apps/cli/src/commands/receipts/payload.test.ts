import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256Hex } from "@countersign/core";
import { sseFrame } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { idsOf, inRun } from "../../../../../packages/gateway/src/testing/events.js";
import { startServed } from "../../../../../packages/gateway/src/testing/served.js";
import type { Served } from "../../../../../packages/gateway/src/testing/served.js";
import { post } from "../../../../../packages/gateway/src/testing/transports.js";
import { runProgram } from "../../testing/run-program.js";

const HOSTILE = "\u001b[2J\u202eblocked";
const POLICY = `hushspec: "0.1.0"
name: blocking
rules:
  ag_ui: { enabled: true, allow_display_without_capability: true, restricted_classifications: [mutate] }
  ag_ui_inbound: { enabled: true, default: allow }
`;

let served: Served;
let blocked: { seq: number; receipt: { id: string; payload_hash: string } };
beforeAll(async () => {
  const change = { type: "STATE_DELTA", delta: [{ op: "add", path: "/a", value: HOSTILE }] };
  served = await startServed(
    ({ body }) => ({ pieces: inRun(idsOf(body), [change]).map(sseFrame) }),
    { config: "evidence: { keep: 1h }", policy: POLICY },
  );
  const url = `${served.running.dataUrl}/agents/support?session=s1`;
  await (await post(url, { threadId: "t1", runId: "r1" })).text();
  const response = await served.control("/v1/receipts?allowed=false");
  const { entries } = (await response.json()) as { entries: (typeof blocked)[] };
  blocked = entries[0] as typeof blocked;
  await vi.waitFor(async () => {
    const read = await served.control(`/v1/receipts/${blocked.seq}/evidence`);
    if (read.status !== 200) throw new Error("not kept yet");
  });
  // A command beside the gateway reads the log up to its last checkpoint.
  await (await served.control("/v1/checkpoint")).text();
}, 60_000);
afterAll(() => served.stop());

function show(which: number | string, ...more: string[]): ReturnType<typeof runProgram> {
  const inside = join(served.folder, ".countersign");
  const places = ["--store", `sqlite:${inside}/receipts`, "--keys", `${inside}/keys`];
  return runProgram("receipts", "show", String(which), "--payload", ...places, ...more);
}

test("the payload of a blocked event is shown beside a running gateway, by number and by receipt id", async () => {
  for (const which of [blocked.seq, blocked.receipt.id]) {
    const { code, out } = await show(which);
    expect(code).toBe(0);
    expect(out).toContain("STATE_DELTA");
    expect(out).toContain("its SHA-256 is that of the receipt");
    expect(out).not.toContain("\u202e");
  }
});

test("with --json the output is the text that was hashed", async () => {
  const { out } = await show(blocked.seq, "--json");
  expect(sha256Hex(out.replace(/\n$/u, ""))).toBe(blocked.receipt.payload_hash);
});

test("a payload that is not kept, not yet or no more, is an error that says why", async () => {
  await expect(show(0)).rejects.toMatchObject({
    code: "ERR_CLI_NO_PAYLOAD",
    message: expect.stringContaining("evidence.events"),
  });
  const config = join(served.folder, "short.yaml");
  await writeFile(
    config,
    "agents: { a: { url: 'http://127.0.0.1:1/' } }\nevidence: { keep: 1h }\n",
  );
  vi.useFakeTimers({ now: Date.now() + 3_600_001, toFake: ["Date"] });
  try {
    await expect(show(blocked.seq, "--config", config)).rejects.toMatchObject({
      message: expect.stringContaining("its time is over (evidence.keep)"),
    });
  } finally {
    vi.useRealTimers();
  }
});

test("without the key the command names it", async () => {
  const empty = ["--keys", join(served.folder, "nowhere")];
  await expect(show(blocked.seq, ...empty)).rejects.toMatchObject({ code: "ERR_EVIDENCE_KEY" });
});
