// Takes the pictures of README and docs from the running demo: npm run screenshots
import { spawn } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const root = join(import.meta.dirname, "..");
const folder = join(root, "docs", "images");
const MAX_BYTES = 250_000;

const { findBrowser, startBrowser } = await import("@countersign/testkit");
if (findBrowser() === undefined) {
  process.stderr.write(
    "screenshots: Chromium is missing; install it (apt-get install chromium).\n",
  );
  process.exit(1);
}

const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const OUTCOME = "Without Countersign, ";

/** Starts the demo and reads the URLs that it prints. */
async function startDemo() {
  const main = join(root, "apps", "cli", "dist", "main.js");
  const child = spawn(process.execPath, [main, "demo", "--port", "0", "--json"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  for await (const line of createInterface({ input: child.stdout })) {
    text += line;
    if (line === "}") break;
  }
  return { ...JSON.parse(text), stop: () => child.kill() };
}

async function take(page, name) {
  const path = join(folder, `${name}.png`);
  // The pointer would leave a button highlighted, and the caret may blink.
  await page.mouse.move(0, 0);
  await page.screenshot({ path, animations: "disabled", caret: "hide" });
  const { size } = statSync(path);
  process.stdout.write(`screenshots: docs/images/${name}.png ${Math.ceil(size / 1024)} KB\n`);
  if (size > MAX_BYTES) throw new Error(`${name}.png is larger than ${MAX_BYTES} bytes`);
}

async function open(browser, url, options) {
  const context = await browser.newContext({
    locale: "en-GB",
    timezoneId: "UTC",
    reducedMotion: "reduce",
    ...options,
  });
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

/** The demo after the question that it plays when it opens. */
async function takeDemo(browser, { page: url }, name, options) {
  const page = await open(browser, url, options);
  await page.locator("#outcome", { hasText: OUTCOME }).waitFor();
  await take(page, name);
  return page;
}

/** The card whose button lies, after it was pressed on one side and the good card on the other. */
async function takeCard(browser, { page: url }) {
  const page = await open(browser, url, { viewport: WIDE, colorScheme: "light" });
  await page.locator("#outcome", { hasText: OUTCOME }).waitFor();
  await page.getByRole("button", { name: "Show my invoice" }).click();
  await page.locator("#direct .drawn.harmful").waitFor();
  await page.locator("[data-say][aria-disabled=false]").first().waitFor();
  await page.locator("#guarded .drawn button").click();
  await page.locator("#guarded").getByText("$42.50, paid.").waitFor();
  await page.locator("#direct .drawn.harmful button").click();
  await page.locator("#direct .message.harmful", { hasText: "to Lucky Draw Ltd." }).waitFor();
  await page.evaluate(() => document.activeElement.blur());
  await take(page, "demo-card");
}

async function openConsole(browser, { console: url, adminToken }, options) {
  const page = await open(browser, url, { viewport: WIDE, ...options });
  await page.getByLabel("Token", { exact: true }).fill(adminToken);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  return page;
}

const go = (page, place) => page.evaluate((hash) => void (location.hash = hash), `#/${place}`);

async function takeConsole(browser, demo) {
  const light = await openConsole(browser, demo, { colorScheme: "light" });
  const asked = await takeDemo(browser, demo, "demo", { viewport: WIDE, colorScheme: "light" });
  await asked.getByRole("button", { name: "I want a refund" }).click();
  const confirm = asked.locator("#guarded").getByRole("button", { name: "Confirm refund" });
  await confirm.waitFor();
  const dark = await openConsole(browser, demo, { colorScheme: "dark" });
  await go(dark, "live");
  await dark.getByText("MESSAGES_SNAPSHOT").first().waitFor();
  await take(dark, "console-live");
  const blocked = dark
    .locator(".feed-row", { hasText: "ag_ui.capability" })
    .first()
    .locator("a")
    .first();
  const receipt = new URL(await blocked.evaluate((link) => link.href)).hash;
  await confirm.click();
  await asked.locator("#guarded").getByText("Done: $42.50").waitFor();
  await go(light, "overview?period=15m");
  await light.getByText("ag_ui_components").first().waitFor();
  await take(light, "console-overview");
  await light.evaluate((hash) => void (location.hash = hash), receipt);
  await light.getByText("Signed, unchanged").waitFor();
  await take(light, "console-receipt");
  await go(light, "policy");
  await light.getByRole("button", { name: "Insert the active policy" }).click();
  await light.getByText("Active document").scrollIntoViewIfNeeded();
  await take(light, "console-policy");
  await go(dark, "runs");
  await dark.locator("tbody tr").last().locator("a").first().click();
  await dark.getByText("Conversation").first().waitFor();
  // The name of the gateway holds the name of this machine.
  const name = dark.getByText(`${hostname()}-`);
  await name.evaluateAll((all) => all.forEach((one) => one.replaceChildren("gateway-1f7c09ab")));
  await take(dark, "console-run");
}

mkdirSync(folder, { recursive: true });
const demo = await startDemo();
const browser = await startBrowser();
try {
  await takeConsole(browser, demo);
  await takeDemo(browser, demo, "demo-dark", { viewport: WIDE, colorScheme: "dark" });
  await takeCard(browser, demo);
  await takeDemo(browser, demo, "demo-phone", { viewport: PHONE, colorScheme: "light" });
} finally {
  await browser.close();
  demo.stop();
}
