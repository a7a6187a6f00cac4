// CopilotKit's own runtime and chat, unchanged, must work through the gateway, and the blocked thing must not show.
// A command of its own: CopilotKit installs hundreds of packages, which `npm test` at the root should not wait for.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { Socket } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..", "..");
const outside = new Set();

assert.ok(existsSync(join(root, "apps", "cli", "dist")), "`npm run build` at the root comes first");
install();
const vite = join(here, "node_modules", "vite", "bin", "vite.js");
assert.equal(run(process.execPath, [vite, "build", "--logLevel", "error"]), 0, "no page built");
watchSockets();

const { startBrowser } = await import("../../testkit/dist/browser.js");
const { PHISHING } = await import("./agent.mjs");
const { startApp } = await import("./app.mjs");
const { checkClients } = await import("./test-clients.mjs");
const { checkRecorded } = await import("./test-recorded.mjs");
const { checkInFront } = await import("./test-in-front.mjs");

const ANSWER = "Order #1024 has shipped and arrives on Tuesday.";
const counts = { passed: 0, failed: 0 };
const app = await startApp(0);
const browser = await startBrowser();
const page = await browser.newPage({ viewport: { width: 900, height: 860 } });
const complaints = [];
page.on("pageerror", (error) => complaints.push(error.message));
page.on("console", (message) => {
  // Of CopilotKit's own frame for MCP Apps.
  const isOfFrame = message.text().includes("can escape its sandboxing");
  if (message.type() === "error" && !isOfFrame) complaints.push(message.text());
});
page.on("request", (request) => {
  const isOurs = [app.url, app.gatewayUrl, "about:", "blob:"].some((url) =>
    request.url().startsWith(url),
  );
  if (!isOurs && !request.url().startsWith("data:")) {
    outside.add(request.url());
  }
});
page.setDefaultTimeout(15_000);

await check("the answer appears in CopilotKit's chat, through the gateway", async () => {
  await page.goto(app.url);
  await ask("Where is my order?");
  await page.getByText(ANSWER).waitFor();
  await idle();
});
await check(
  "a dialog the session holds a capability for appears, and its answer comes back",
  async () => {
    await ask("I want a refund");
    await page.getByTestId("confirm-refund").getByRole("button", { name: "Confirm" }).click();
    await page.getByText("Done: $42.50 is on its way to your card.").waitFor();
    await idle();
    assert.equal(await page.getByTestId("confirm-refund").count(), 1);
  },
);
await check("the phishing dialog does not appear, called or smuggled in a snapshot", async () => {
  assert.equal(await page.getByTestId("prompt-user").count(), 0);
  assert.ok(!(await page.locator("body").textContent()).includes(PHISHING));
});
await page.mouse.move(0, 0);
await page.screenshot({ path: join(root, "docs", "images", "copilotkit.png") });
await check("the gateway holds receipts for what passed and for what it blocked", async () => {
  const { entries } = await app.receipts({ limit: "500", order: "oldest" });
  const seen = (allowed, type, id) =>
    entries.filter(
      ({ receipt }) =>
        receipt.allowed === allowed &&
        receipt.event_type === type &&
        receipt.target?.component_id === id,
    ).length;
  assert.ok(seen(true, "text_stream", "main") > 10);
  assert.equal(seen(true, "form_action", "confirm-refund"), 3);
  // Start, arguments and end of the open call, and the one inside the snapshot.
  assert.equal(seen(false, "form_action", "prompt"), 4);
  assert.equal(seen(true, "form_action", "prompt"), 0);
  assert.ok(entries.some(({ direction }) => direction === "inbound"));
});
await check("the stop button of the chat cancels the run at the agent", async () => {
  const before = app.agent.cancelled;
  await ask("Tell me everything");
  await page.getByText("and then another thing happened").first().waitFor();
  await page.getByTestId("copilot-send-button").click();
  await until(() => app.agent.cancelled === before + 1);
  await idle();
});
await check("after a stop the conversation goes on", async () => {
  await ask("And where is my order now?");
  await page.getByText(ANSWER).nth(1).waitFor();
  await idle();
});
const picture = join(root, "docs", "images", "copilotkit-in-front.png");
await checkInFront({ check, app, page, ask, idle, until, phishing: PHISHING, picture });
await check("without the gateway the same page shows both phishing dialogs", async () => {
  await page.goto(`${app.url}?position=none`);
  const ended = page.waitForEvent("requestfinished", (request) => request.url().endsWith("/run"));
  await ask("Where is my order?");
  await until(async () => (await page.getByTestId("prompt-user").count()) === 2);
  await ended;
});
await check("the page reported no error", () => assert.deepEqual(complaints, []));
await check("an agent that breaks off is an error in the runtime's stream", async () => {
  assertFailed(await runDirectly("Please break off"));
});
await check("an agent that is down is an error in the runtime's stream", async () => {
  app.closeAgent();
  assertFailed(await runDirectly("Where is my order?"));
});
await check("a port that is taken or none is told in one line, with exit code 1", () => {
  const { port } = new URL(app.url);
  const start = (PORT) =>
    spawnSync(process.execPath, ["start.mjs"], {
      cwd: here,
      env: { ...process.env, PORT },
      encoding: "utf8",
    });
  const taken = start(port);
  assert.equal(taken.stderr, `port ${port} is taken; choose another with PORT\n`);
  assert.equal(taken.status, 1);
  const none = start("abc");
  assert.equal(none.stderr, 'PORT must be a number from 0 to 65535, not "abc"\n');
  assert.equal(none.status, 1);
});
await checkClients({ check });
await checkRecorded({ check });
await check("neither page nor runtime spoke to another machine", () =>
  assert.deepEqual([...outside], []),
);

await browser.close();
await app.close();
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed === 0 ? 0 : 1);

/** Installs the example when its packages are missing or older than the lock file. */
function install() {
  const marker = join(here, "node_modules", ".package-lock.json");
  const lock = join(here, "package-lock.json");
  if (existsSync(marker) && statSync(marker).mtimeMs >= statSync(lock).mtimeMs) return;
  console.log("installing CopilotKit (about 850 packages, one to two minutes)");
  assert.equal(run("npm", ["ci", "--no-progress", "--loglevel", "error"]), 0, "npm ci failed");
}

function run(command, args) {
  return spawnSync(command, args, { cwd: here, stdio: "inherit" }).status;
}

/** Notes every host but this machine that this process connects to, plain or TLS: all sockets pass here. */
function watchSockets() {
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function watched(...args) {
    const [options] = args.flat();
    const host = typeof options === "object" ? (options.host ?? "localhost") : String(args[1]);
    if (host !== "localhost" && !host.startsWith("127.")) outside.add(host);
    return Reflect.apply(connect, this, args);
  };
}

async function check(title, body) {
  try {
    await body();
    counts.passed += 1;
    console.log(`ok    ${title}`);
  } catch (error) {
    counts.failed += 1;
    console.log(`FAIL  ${title}\n      ${error.message}`);
  }
}

async function ask(text) {
  await page.getByTestId("copilot-chat-textarea").fill(text);
  await page.getByTestId("copilot-chat-textarea").press("Enter");
}

/** The cursor of a running answer is gone. */
async function idle() {
  await page.getByTestId("copilot-loading-cursor").waitFor({ state: "detached" });
  await page.getByTestId("copilot-copy-button").last().waitFor();
}

async function until(holds) {
  for (let tries = 0; tries < 100; tries += 1) {
    if (await holds()) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
  assert.fail("it did not become true in ten seconds");
}

/** One run through runtime and gateway, without the page. */
async function runDirectly(content) {
  const { error } = console;
  // The runtime prints the failure it is asked for here.
  console.error = () => {};
  const answer = await fetch(`${app.url}api/copilotkit/agent/support/run`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({
      threadId: randomUUID(),
      runId: randomUUID(),
      messages: [{ id: "m1", role: "user", content }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    }),
  });
  const text = await answer.text();
  console.error = error;
  return text;
}

function assertFailed(text) {
  assert.match(text, /"RUN_ERROR"/);
  assert.doesNotMatch(text, /"RUN_FINISHED"/);
}
