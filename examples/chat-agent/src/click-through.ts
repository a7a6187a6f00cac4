import { startBrowser } from "@countersign/testkit";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { build, defaultClientConditions } from "vite";
import type { InlineConfig } from "vite";
import { expect } from "vitest";
import { serveChat } from "./serve.mjs";

/**
 * Builds an example from our sources, serves it with the agent and opens it in a browser. Returns what the
 * browser's console complained about.
 */
export async function withChat(
  page: InlineConfig,
  use: (opened: Page) => Promise<void>,
  gateway?: string,
): Promise<string[]> {
  const outDir = mkdtempSync(join(tmpdir(), "chat-"));
  await build({
    ...page,
    resolve: { conditions: ["@countersign/source", ...defaultClientConditions] },
    build: { outDir, emptyOutDir: true },
  });
  const { url, close } = await serveChat({ folder: outDir, gateway });
  const browser = await startBrowser();
  const complaints: string[] = [];
  try {
    const opened = await browser.newPage({ viewport: { width: 900, height: 700 } });
    opened.setDefaultTimeout(15_000);
    opened.on("pageerror", (error) => complaints.push(error.message));
    opened.on("console", (line) => {
      if (line.type() === "error" || line.type() === "warning") complaints.push(line.text());
    });
    await opened.goto(url);
    await use(opened).catch((error: unknown) => {
      throw new Error(`the page complained: ${complaints.join("; ")}`, { cause: error });
    });
  } finally {
    await browser.close();
    await close();
    rmSync(outDir, { recursive: true, force: true });
  }
  return complaints;
}

/** Walks through the chat as a person would: greet, see a chart, decline, approve, stop a story, try again. */
export async function clickThrough(page: Page, name: string): Promise<void> {
  const status = page.getByRole("status");
  const ask = async (text: string): Promise<void> => {
    await page.getByLabel("Message").fill(text);
    await page.getByRole("button", { name: "Send" }).click();
  };
  const reaches = async (wanted: string): Promise<void> => {
    await page.locator(`.status[data-status="${wanted}"]`).waitFor();
    expect(await status.textContent()).toContain(wanted);
  };

  /** Presses a button without a mouse; the button goes away, and the keyboard must not be left nowhere. */
  const press = async (button: string): Promise<void> => {
    await page.getByRole("button", { name: button }).press("Enter");
    await page.getByRole("button", { name: button }).waitFor({ state: "detached" });
    const place = await page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    expect(place, `where the focus is after ${button}`).toBe("Message");
  };

  await page.getByText("Say hello to begin.").waitFor();
  await page.getByLabel("Message").fill("hello");
  await press("Send");
  await reaches("done");
  await page.getByText("stop me when you have heard enough.").waitFor();

  await ask("show me a chart");
  await page.getByRole("img", { name: "12, 19, 8, 23, 30, 14, 27" }).waitFor();
  await reaches("done");
  expect(await page.locator(".bars span").count()).toBe(7);

  await ask("transfer 20 euros");
  await reaches("waiting");
  expect(await page.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
  await press("Decline");
  await page.getByText("no money was moved.").waitFor();
  await reaches("done");
  await ask("transfer 20 euros after all");
  await reaches("waiting");
  await lookAt(page, name);
  await press("Approve");
  await page.getByText("20 euros are on their way.").waitFor();
  await reaches("done");

  await ask("tell me a story");
  await page.getByText("The sentry asked").waitFor();
  await page.getByLabel("Message").fill("wait");
  await page.getByLabel("Message").press("Enter");
  expect(await page.getByLabel("Message").inputValue(), "words for later").toBe("wait");
  await press("Stop");
  await reaches("stopped");
  const story = await page.locator(".message.assistant").last().textContent();
  expect(story).not.toContain("watch 60");

  const failure = { type: "RUN_ERROR", message: "The sentry is asleep.", code: "ASLEEP" };
  const refusal = {
    contentType: "text/event-stream",
    body: `data: ${JSON.stringify(failure)}\n\n`,
  };
  await page.route("**/agent", (route) => route.fulfill(refusal), { times: 1 });
  await ask("hello again");
  await page.getByText(failure.message).waitFor();
  await press("Try again");
  await reaches("done");

  const value = {
    receipt: "agui-evt_1",
    type: "CUSTOM",
    rule: "r",
    reason: "unknown component type",
  };
  const told = { type: "CUSTOM", name: "countersign.blocked", value };
  await page.route(
    "**/agent",
    (route) => {
      const { threadId, runId } = route.request().postDataJSON() as {
        threadId: string;
        runId: string;
      };
      const events = [
        { type: "RUN_STARTED", threadId, runId },
        told,
        told,
        { type: "RUN_FINISHED", threadId, runId },
      ];
      const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
      return route.fulfill({ contentType: "text/event-stream", body });
    },
    { times: 1 },
  );
  await ask("what does a gateway do?");
  await page.getByText("Kept back by the gateway: unknown component type").waitFor();
  expect(await page.locator(".kept").count(), "one reason, told once").toBe(1);
}

/** With `COUNTERSIGN_SCREENSHOTS`, keeps pictures in light, dark and narrow. */
export async function lookAt(page: Page, name: string): Promise<void> {
  const folder = process.env["COUNTERSIGN_SCREENSHOTS"];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  const shot = (kind: string): Promise<unknown> =>
    page.screenshot({ path: join(folder, `${name}-${kind}.png`) });
  await shot("light");
  await page.emulateMedia({ colorScheme: "dark" });
  await shot("dark");
  await page.setViewportSize({ width: 360, height: 640 });
  await shot("narrow");
  await page.setViewportSize({ width: 900, height: 700 });
  await page.emulateMedia({ colorScheme: "light" });
}
