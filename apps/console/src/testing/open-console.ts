import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { startBrowser } from "@countersign/testkit";
import type { FakeScript } from "@countersign/testkit";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { CONSOLE_DIRECTORY } from "../../files.mjs";
import { startServed } from "../../../../packages/gateway/src/testing/served.js";
import type { Served } from "../../../../packages/gateway/src/testing/served.js";
import { MIXED_POLICY, TALKING_AGENT } from "./agent.js";

/** The console of a real gateway, in a real browser. */
export type OpenedConsole = {
  readonly served: Served;
  readonly browser: Browser;
  /** Opens the console at a path and collects the page's errors. */
  open(place: string, options?: OpenOptions): Promise<Page>;
  /** Sends a run with more members to the agent, and waits for the end of the response unless the run is held. */
  talk(session: string, run: string, more?: object): Promise<void>;
  /** The errors, blocked scripts and CSP reports of all pages. */
  readonly pageErrors: string[];
  stop(): Promise<void>;
};

/** The time-out for a browser on a busy machine. */
export const PATIENCE = 120_000;

/** The browser itself reports that a page has no session yet, and that a run has no evidence. */
const EXPECTED = /\/v1\/me$|\/evidence(?:\?[^/]*)?$|\/v1\/agents$|\/v1\/capabilities\?limit=500$/u;

/** How a page is opened. */
export type OpenOptions = {
  readonly context?: BrowserContextOptions;
  /** Another address than the gateway's: a proxy in between. */
  readonly url?: string;
  readonly isSignedIn?: boolean;
  /** Another operator than the one of the admin token. */
  readonly token?: string;
};

/** Starts gateway, agent and browser. */
export async function openConsole(
  policy = MIXED_POLICY,
  agent: FakeScript = TALKING_AGENT,
  config = "",
  control = "",
): Promise<OpenedConsole> {
  assertBuilt();
  const [served, browser] = await Promise.all([
    startServed(agent, { policy, config, control, consoleDirectory: CONSOLE_DIRECTORY }),
    startBrowser(),
  ]);
  const pageErrors: string[] = [];
  return {
    served,
    browser,
    pageErrors,
    open: async (place, options = {}) => {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 900 },
        ...options.context,
      });
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      page.on("pageerror", (error) => pageErrors.push(`error: ${error.message}`));
      page.on("console", (message) => {
        if (!["error", "warning"].includes(message.type())) return;
        if (EXPECTED.test(message.location().url)) return;
        pageErrors.push(`${message.text()} ${message.location().url}`);
      });
      await page.addInitScript(() => {
        addEventListener("securitypolicyviolation", (event) => {
          console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
        });
      });
      const url = options.url ?? served.running.controlUrl;
      await page.goto(`${url}/console${place}`);
      if (options.isSignedIn !== false) await signIn(page, options.token ?? served.adminToken);
      return page;
    },
    talk: async (session, run, more = {}) => {
      const asked = fetch(
        `${served.running.dataUrl}/agents/support?session=${encodeURIComponent(session)}`,
        {
          method: "POST",
          headers: { "content-type": "application/json", accept: "text/event-stream" },
          body: JSON.stringify({
            protocolVersion: "1.0",
            threadId: `thread of ${run}`,
            runId: run,
            messages: [],
            tools: [{ name: "refund", description: "", parameters: { type: "object" } }],
            ...more,
          }),
        },
      );
      const response = await asked;
      if (run.startsWith("held")) void response.text().catch(() => {});
      else await response.text();
    },
    stop: async () => {
      await browser.close();
      await served.stop();
    },
  };
}

const BUILD = fileURLToPath(new URL("../../build.mjs", import.meta.url));

/** Tests look at the built page: one that is not made of these sources proves nothing about them. */
export function assertBuilt(): void {
  const { status } = spawnSync(process.execPath, [BUILD, "--check"]);
  if (status !== 0)
    throw new Error("the console's build is not that of its sources: npm run build");
}

/** Types the token in, as a person does. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel("Token", { exact: true }).fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
}

/** Replaces the text of the candidate, by keys. */
export async function writeCandidate(page: Page, text: string): Promise<void> {
  await page.getByLabel("Candidate policy (YAML or JSON)").click();
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
}
