import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createNoteKey, encodeVkey } from "@countersign/receipts";
import { findBrowser } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MIXED_POLICY } from "./testing/agent.js";
import { openConsole, signIn, PATIENCE } from "./testing/open-console.js";
import type { OpenedConsole } from "./testing/open-console.js";
import { startProxy } from "./testing/proxy.js";

const hasNoBrowser = findBrowser() === undefined;
let opened: OpenedConsole;
beforeAll(async () => {
  if (!hasNoBrowser) opened = await openConsole();
}, PATIENCE);
afterAll(() => opened?.stop());

test.skipIf(hasNoBrowser)(
  "a wrong token is told; the right one becomes a cookie that no script reads, and a sign-out ends it",
  async () => {
    const page = await opened.open("#/live?grouped=no", { isSignedIn: false });
    await page.getByLabel("Token", { exact: true }).fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("rejects this token").waitFor();
    // The browser itself tells of the 401, which is what was asked for.
    opened.pageErrors.length = 0;
    await signIn(page, opened.served.adminToken);
    await page.getByText("No decisions yet").waitFor();
    await opened.talk("alice", "run-1");
    const row = (event: string) => page.getByRole("row").filter({ hasText: event }).first();
    await row("TOOL_CALL_START").getByText("blocked").waitFor();
    await row("RUN_AGENT_INPUT").getByText("would block").waitFor();
    await row("RUN_FINISHED").getByText("allowed").waitFor();
    expect(page.url()).not.toContain(opened.served.adminToken);
    expect(await page.evaluate(() => [localStorage.length, sessionStorage.length])).toEqual([0, 0]);
    await page.reload();
    await row("RUN_FINISHED").waitFor();
    expect(await page.evaluate(() => [localStorage.length, document.cookie])).toEqual([0, ""]);
    expect(await page.context().cookies()).toEqual([
      expect.objectContaining({ httpOnly: true, sameSite: "Strict" }),
    ]);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token", { exact: true }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
    await page.reload();
    await page.getByLabel("Token", { exact: true }).waitFor();
    expect(opened.pageErrors).toEqual([]);
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(hasNoBrowser)(
  "the feed is paused, filtered and walked with the keyboard alone",
  async () => {
    await opened.talk("kim", "run-k");
    const page = await opened.open("#/live");
    const rows = page.locator(".feed-all [role=row]");
    await rows.first().waitFor();
    await page.getByRole("button", { name: "Pause" }).press("Enter");
    await opened.talk("late", "run-late");
    await page.getByRole("button", { name: /Resume \(1[0-9] new\)/ }).waitFor();
    expect(await rows.filter({ hasText: "late" }).count()).toBe(0);
    await page.getByRole("button", { name: /Resume/ }).press("Enter");
    await rows.filter({ hasText: "late" }).first().waitFor();
    await page.locator("h1").focus();
    await page.keyboard.press("/");
    await page.keyboard.type("tool_call_end");
    await page.getByText(/^Showing \d+ of \d+ decisions/).waitFor();
    await page.getByRole("button", { name: "More filters" }).click();
    await page.getByLabel("Session", { exact: true }).fill("kim");
    await page.keyboard.press("Enter");
    await expect.poll(() => rows.count()).toBe(1);
    expect(page.url()).toContain("q=tool_call_end");
    expect(page.url()).toContain("session_id=kim");
    await page.keyboard.press("Escape");
    await rows.locator("a.whole").focus();
    await page.keyboard.press("Enter");
    await page.getByText("Signed, unchanged").waitFor();
    await page.goBack();
    expect(await rows.count()).toBe(1);
    expect(opened.pageErrors).toEqual([]);
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(hasNoBrowser)(
  "a run is stopped after it was named and confirmed, and Esc means no",
  async () => {
    await opened.talk("stop-me", "held-1");
    const page = await opened.open("#/runs?view=running");
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.textContent()).toContain("held-1");
    await page.keyboard.press("Escape");
    await expect.poll(() => dialog.count()).toBe(0);
    await page.getByRole("link", { name: "held-1" }).click();
    await page.getByRole("img", { name: /receipts in order, \d+ blocked/ }).waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await dialog.getByRole("button", { name: "Stop the run" }).click();
    await page.locator(".badge", { hasText: "stopped" }).waitFor();
    expect(opened.served.running.gateway.context.sessions.openRuns()).toEqual([]);
    expect(opened.pageErrors).toEqual([]);
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(hasNoBrowser)(
  "an entry is verified in the browser; under another key, and with one byte flipped, it is red",
  async () => {
    const page = await opened.open("#/receipts/3");
    await page.getByText("Signed, unchanged, and in the log that this gateway presents").waitFor();
    await page.getByText("comes from the gateway and is not pinned").click();
    await page.getByRole("button", { name: "Pin the gateway's" }).click();
    await page.getByText("in the log of the pinned key").waitFor();
    const key = await page.evaluate(() => localStorage.getItem("countersign.log-key") ?? "");
    const other = encodeVkey(createNoteKey("countersign.local/log", new Uint8Array(32).fill(7)));
    await page.getByLabel("Log key from another channel").fill(other);
    await page.getByRole("button", { name: "Pin this key" }).click();
    await page.getByText("Verification failed").waitFor();
    await page.getByLabel("Log key from another channel").fill(key);
    await page.getByRole("button", { name: "Pin this key" }).click();
    await page.getByText("in the log of the pinned key").waitFor();
    await page.context().close();

    const proxy = await startProxy(opened.served.running.controlUrl, /\/export\?/, (body) => {
      const text = body.toString("latin1");
      return Buffer.from(text.replace('"agent_id":"support"', '"agent_id":"suppors"'), "latin1");
    });
    try {
      const tampered = await opened.open("#/receipts/3", { url: proxy.url });
      await tampered.getByText("Verification failed").waitFor();
      const failed = tampered.locator(".checklist .failed");
      expect(await failed.allTextContents()).toEqual([
        expect.stringContaining("The proof leads from the entry to the signed root"),
        expect.stringContaining("The signature covers the receipt as received"),
      ]);
      await tampered.context().close();
    } finally {
      await proxy.stop();
    }
    expect(opened.pageErrors).toEqual([]);
  },
  PATIENCE,
);

test.skipIf(hasNoBrowser)(
  "a run is downloaded as one page that verifies itself from the disk; with one letter changed it is red",
  async () => {
    await opened.talk("reporter", "run-page");
    const page = await opened.open("#/runs/reporter/run-page");
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download as a page that verifies itself" }).click(),
    ]);
    expect(file.suggestedFilename()).toBe("run-run-page.html");
    const saved = join(opened.served.folder, "report.html");
    await file.saveAs(saved);
    const html = await readFile(saved, "utf8");
    const changed = join(opened.served.folder, "changed.html");
    await writeFile(
      changed,
      html.replace('\\"agent_id\\":\\"support', '\\"agent_id\\":\\"suppors'),
    );
    const reader = await (await opened.browser.newContext({ offline: true })).newPage();
    const errors: string[] = [];
    reader.on("console", (message) => errors.push(message.text()));
    reader.on("request", (request) =>
      errors.push(...(request.url().startsWith("file:") ? [] : [request.url()])),
    );
    await reader.goto(pathToFileURL(saved).href);
    await reader.getByText(/^All \d+ entries are signed, unchanged/).waitFor();
    const key = await readFile(
      join(opened.served.folder, ".countersign", "keys", "log.vkey"),
      "utf8",
    );
    await reader.getByRole("textbox").fill(key.trim());
    await reader.keyboard.press("Enter");
    await reader.getByText(/in the log of the key that you entered/).waitFor();
    expect(errors).toEqual([]);
    await reader.goto(pathToFileURL(changed).href);
    await reader.getByText(/^1 of \d+ entries are not verified/).waitFor();
    await reader.context().close();
    // The content of the run is not kept, and the page says how to keep it.
    await page.getByText("Structure only").waitFor();
    expect(opened.pageErrors.filter((line) => !line.includes("evidence"))).toEqual([]);
    opened.pageErrors.length = 0;
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(hasNoBrowser)(
  "a policy that does not load is told with its place, and what enforce mode would block is counted",
  async () => {
    const page = await opened.open("#/policy");
    await page.locator(".rules").getByText("ag_ui_inbound").waitFor();
    const file = join(opened.served.folder, "policy.yaml");
    await writeFile(file, MIXED_POLICY.replace("ag_ui_inbound:", "ag_ui_inbuond:"));
    await page.getByRole("button", { name: "Reload policy" }).click();
    await page.getByText("policy.yaml:7:3").first().waitFor();
    await page.evaluate(() => void (location.hash = "#/overview"));
    await page.getByText("the last valid policy stays active").waitFor();
    await page.getByText("policy.yaml:7:3").waitFor();
    await writeFile(file, MIXED_POLICY.replace("support desk", "support desk 2"));
    await page.goBack();
    await page.getByRole("button", { name: "Reload policy" }).click();
    await page.getByText(/The new policy is active|is unchanged/).waitFor();
    await page.getByText("support desk 2", { exact: true }).first().waitFor();
    // The browser itself tells of the 422.
    expect(opened.pageErrors.filter((line) => !line.includes("422"))).toEqual([]);
    opened.pageErrors.length = 0;
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(hasNoBrowser)(
  "a token is issued, shown once, opens what it names, and is revoked by itself",
  async () => {
    const page = await opened.open("#/capabilities");
    await page.getByRole("button", { name: "Issue" }).click();
    await page.getByText("Enter the agent").waitFor();
    const form = page.getByRole("region", { name: "Issue a token" });
    await form.getByLabel("Agent").fill("support");
    await form.getByLabel(/^Session/).fill("holder");
    await form.getByLabel(/Scopes/).fill("ui:mutate:*\nui:alert:toast");
    await form.getByRole("button", { name: "Issue" }).click();
    await page.getByText("The session has no owner").waitFor();
    // The browser itself reports the refused request.
    expect(opened.pageErrors.splice(0)).toEqual([expect.stringContaining("409 (Conflict)")]);
    await form.getByLabel(/without an owner/).check();
    await form.getByRole("button", { name: "Issue" }).click();
    await page.getByText("Valid for any user of the session").waitFor();
    const token = (await page.getByLabel("Token", { exact: true }).textContent()) ?? "";
    expect(token.split(".")).toHaveLength(3);
    await opened.talk("holder", "run-h");
    const answer = await opened.served.control("/v1/receipts?session_id=holder&allowed=false");
    const blocked = (await answer.json()) as { entries: unknown[] };
    const revoke = page.getByRole("region", { name: "Revoke a token" });
    await revoke.getByLabel("Token or token id").fill(token);
    await revoke.getByRole("button", { name: "Revoke" }).click();
    await page.getByText("Revoked:").waitFor();
    await opened.talk("holder", "run-i");
    const later = await opened.served.control("/v1/receipts?session_id=holder&allowed=false");
    const more = (await later.json()) as { entries: unknown[] };
    expect(more.entries.length).toBeGreaterThan(2 * blocked.entries.length);
    await page.evaluate(() => void (location.hash = "#/overview"));
    await page.goBack();
    expect(await page.getByText(token).count()).toBe(0);
    expect(opened.pageErrors).toEqual([]);
    await page.context().close();
  },
  PATIENCE,
);

test.skipIf(hasNoBrowser)(
  "a broken feed reconnects, a row in focus stays in its place, and an invalid token leads to the login",
  async () => {
    await opened.talk("reader", "run-a");
    const proxy = await startProxy(opened.served.running.controlUrl, /^nothing/, (body) => body);
    const page = await opened.open("#/live", { url: proxy.url });
    const rows = page.locator(".feed-all [role=row]");
    await rows.filter({ hasText: "run-a" }).first().waitFor();
    const read = rows.nth(3).locator("a.whole");
    await read.focus();
    const name = (await read.textContent()) ?? "";
    const top = (await read.boundingBox())?.y ?? 0;
    await opened.talk("reader-2", "run-b");
    await rows.filter({ hasText: "run-b" }).first().waitFor();
    const still = page.getByRole("link", { name, exact: true });
    await expect
      .poll(async () => Math.round((await still.boundingBox())?.y ?? 0))
      .toBe(Math.round(top));

    proxy.tear();
    await page.getByText("disconnected, reconnecting").waitFor();
    await page.locator(".connection.live").waitFor();
    const places = await rows.locator("a.whole").allTextContents();
    expect(new Set(places).size).toBe(places.length);

    for (const [status, words] of [
      [429, "Wait a minute"],
      [401, "Your session has ended"],
    ] as const) {
      await page.route("**/v1/status", (route) =>
        route.fulfill({ status, json: { code: "X", title: "no" } }),
      );
      await page.evaluate(() => void (location.hash = "#/overview"));
      await page.getByRole("alert").getByText(words).waitFor();
      await page.unrouteAll();
      await signIn(page, opened.served.adminToken);
      await page.evaluate(() => void (location.hash = "#/live"));
    }
    // The browser itself tells of the torn line and of the refusals.
    opened.pageErrors.length = 0;
    await page.context().close();
    await proxy.stop();
  },
  PATIENCE,
);
