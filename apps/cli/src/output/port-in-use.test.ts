import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeFailure } from "./failure.js";
import { runProgram } from "../testing/run-program.js";

const taken = createServer();
let port = "";
let directory = "";
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "countersign-port-"));
  await new Promise<void>((done) => taken.listen(0, "127.0.0.1", done));
  port = String((taken.address() as AddressInfo).port);
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await new Promise((done) => taken.close(done));
});

test("servers whose port is in use fail with a message and not with an uncaught error", async () => {
  const recording = join(directory, "one.jsonl");
  writeFileSync(recording, '{"type":"RUN_STARTED","threadId":"t","runId":"r"}\n');
  for (const verb of [
    ["redteam", "agent"],
    ["replay", recording],
  ]) {
    const failure: unknown = await runProgram(...verb, "--port", port).catch((error) => error);
    expect(describeFailure(failure)).toEqual({
      code: "EADDRINUSE",
      message: `127.0.0.1:${port} is in use. Fix: stop the other process, or choose another port`,
    });
  }
});

test("a port without the rights to it is told as such", () => {
  const error = { code: "EACCES", syscall: "listen", address: "127.0.0.1", port: 80 };
  expect(describeFailure(Object.assign(new Error("no"), error)).message).toBe(
    "127.0.0.1:80 cannot be used by this user. Fix: choose a port above 1023",
  );
});
