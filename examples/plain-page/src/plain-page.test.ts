import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serveChat } from "@countersign/example-chat-agent";
import { loadConfig, startGateway } from "@countersign/gateway";
import { findBrowser, startBrowser } from "@countersign/testkit";
import { expect, test } from "vitest";

const place = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** A port that was free a moment ago: page and gateway must know each other's before either begins. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test.skipIf(findBrowser() === undefined)(
  "a page without a library talks through the gateway, again and again, and is told what was kept back",
  { timeout: 60_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "plain-page-"));
    const port = await freePort();
    const text = readFileSync(place("countersign.yaml"), "utf8")
      .replaceAll("127.0.0.1:3000", `127.0.0.1:${port}`)
      .replaceAll(/port: 808[01]/gu, "port: 0")
      .replace("policy.yaml", JSON.stringify(place("policy.yaml")));
    const file = join(folder, "countersign.yaml");
    const gateway = await startGateway(loadConfig(text, { file, environment: {} }));
    const copy = join(folder, "page");
    cpSync(place("page"), copy, { recursive: true });
    const socket = gateway.dataUrl.replace("http:", "ws:");
    const index = readFileSync(place("page/index.html"), "utf8");
    writeFileSync(join(copy, "index.html"), index.replace("ws://127.0.0.1:8080", socket));
    const page = await serveChat({ folder: copy, port, gateway: gateway.dataUrl });
    const browser = await startBrowser();
    try {
      const opened = await browser.newPage();
      const complaints: string[] = [];
      opened.on("pageerror", ({ message }) => complaints.push(message));
      opened.on("console", (line) => line.type() === "error" && complaints.push(line.text()));
      await opened.goto(page.url);
      const send = opened.getByRole("button", { name: "Send" });
      const ask = async (words: string, answer: RegExp): Promise<void> => {
        await opened.getByLabel("Message").fill(words);
        await send.click();
        await opened.getByText(answer).last().waitFor();
      };
      await ask("hello", /Hello! Ask me for a \*chart\*.* heard enough/u);
      await ask("a transfer, please", /ended by policy: capability required/u);
      await ask("a chart", /kept back: capability required/u);
      // All of it goes along with the next question and is held against what was delivered.
      await ask("hello again", /hello again/u);
      const answers = opened.getByText(/heard enough/u);
      await expect.poll(() => answers.count(), { timeout: 20_000 }).toBe(2);
      expect(complaints).toEqual([]);
      const pictures = process.env["COUNTERSIGN_SCREENSHOTS"];
      if (pictures !== undefined) await opened.screenshot({ path: join(pictures, "plain.png") });
    } finally {
      await browser.close();
      await page.close();
      await gateway.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
