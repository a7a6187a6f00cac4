import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { selfSigned } from "../testing/self-signed.js";

const CLI = new URL("../../../../apps/cli/", import.meta.url);
const isBuilt = existsSync(new URL("dist/main.js", CLI));

/** Opens streams on one connection and resets each at once. */
async function resetStreams(url: string, count: number): Promise<void> {
  const session = connect(url, { rejectUnauthorized: false });
  session.on("error", () => undefined);
  await new Promise((resolve) => session.once("connect", resolve));
  for (let number = 0; number < count && !session.destroyed; number += 1) {
    const stream = session.request({ ":method": "POST", ":path": "/agents/a" });
    stream.on("error", () => undefined);
    stream.close(8);
    if (number % 100 === 0) await new Promise(setImmediate);
  }
  await new Promise((resolve) => {
    if (session.destroyed) resolve(undefined);
    else session.once("close", resolve);
    setTimeout(resolve, 1000);
  });
}

test.runIf(isBuilt)(
  "after a storm of reset streams, a stop still closes ledger and log and exits with 0",
  async () => {
    const home = await mkdtemp(join(tmpdir(), "countersign-stop-"));
    const { cert, key } = selfSigned();
    await writeFile(join(home, "cert.pem"), cert);
    await writeFile(join(home, "key.pem"), key);
    const file = join(home, "countersign.yaml");
    await writeFile(
      file,
      'agents: { a: { url: "http://127.0.0.1:9/" } }\ncontrol: { port: 0 }\n' +
        "listen: { port: 0, tls: { cert: cert.pem, key: key.pem } }\n",
    );
    const bin = new URL("bin/countersign.js", CLI).pathname;
    const child = spawn(process.execPath, [bin, "serve", "--config", file], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    let out = "";
    child.stdout.on("data", (part: Buffer) => (out += String(part)));
    const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
    try {
      await expect.poll(() => out, { timeout: 20_000 }).toContain('"msg":"listening ');
      const { data } = JSON.parse(out.split("\n")[0] ?? "") as { data: string };
      await resetStreams(data, 3000);
      child.kill("SIGTERM");
      expect(await exit).toBe(0);
      expect(out).toContain('"msg":"stopped"');
    } finally {
      child.kill("SIGKILL");
      await rm(home, { recursive: true, force: true });
    }
  },
  30_000,
);
