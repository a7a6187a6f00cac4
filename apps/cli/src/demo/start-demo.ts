import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CONSOLE_DIRECTORY } from "@countersign/console";
import { loadConfig, startGateway } from "@countersign/gateway";
import type { RunningGateway } from "@countersign/gateway";
import { createDemoAgent } from "./agent.js";
import { createDemoPage } from "./page.js";
import type { PageSettings } from "./page.js";
import { DEMO_POLICY } from "./policy.js";
import { playSupportAgent } from "./script.js";
import type { Play } from "./script.js";
import { createSentActs } from "./sent.js";

/** A demo that runs. */
export type Demo = {
  readonly url: string;
  readonly running: RunningGateway;
  close(): Promise<void>;
};

const SESSION_SECONDS = 3600;

/** The scopes of the demo's page: one dialog, the buttons of cards, some notifications, and its own state. */
const SCOPES = [
  "ui:submit:modal:confirm-refund",
  "ui:submit:a2ui:Button",
  "ui:alert:toast:default",
  "ui:mutate:*",
];

/** Options for tests: a demo that fails, or another agent. */
export type DemoOptions = {
  /** The parent of its folder; the system's temporary directory by default. */
  readonly parent?: string;
  readonly start?: typeof startGateway;
  /** Another script for the agent. */
  readonly play?: Play;
};

/** Starts agent, gateway and page on this machine; nothing needs a key, a model or a network. */
export async function startDemo(port: number, options: DemoOptions = {}): Promise<Demo> {
  // Undone from the last to the first, whether the demo ends or does not come about.
  const undo: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    return { ...(await openDemo(port, options, undo)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openDemo(
  port: number,
  { parent = tmpdir(), start = startGateway, play = playSupportAgent }: DemoOptions,
  undo: (() => Promise<unknown>)[],
): Promise<Omit<Demo, "close">> {
  // The page listens first: the gateway answers only to pages from an origin it was told.
  const page = createServer();
  await listen(page, port);
  undo.push(() => stop(page));
  const folder = await mkdtemp(join(parent, "countersign-demo-"));
  undo.push(() => rm(folder, { recursive: true, force: true }));
  const acts = createSentActs();
  const agent = createDemoAgent(play, acts);
  await listen(agent, 0);
  undo.push(() => stop(agent));
  const agentUrl = `http://127.0.0.1:${portOf(agent)}/`;
  await writeFile(join(folder, "policy.yaml"), DEMO_POLICY);

  // An origin leaves the port out where it is the usual one.
  const origins = ["127.0.0.1", "localhost"].map(
    (host) => new URL(`http://${host}:${portOf(page)}`).origin,
  );
  const config = loadConfig(
    `agents:\n  support:\n    url: ${agentUrl}\npolicy: policy.yaml\nlisten: { port: 0 }\ncontrol: { port: 0 }\n` +
      `origins: ${JSON.stringify(origins)}\n`,
    { file: join(folder, "countersign.yaml"), environment: {} },
  );
  const running = await start(config, { consoleDirectory: CONSOLE_DIRECTORY });
  undo.push(() => running.close());
  const openSession = async (session: string): Promise<PageSettings> => {
    const now = Math.floor(Date.now() / 1000);
    const { token } = await running.tokens.issue({
      agent: "support",
      sessionId: session,
      scopes: SCOPES,
      notBefore: now,
      expiresAt: now + SESSION_SECONDS,
    });
    running.gateway.context.sessions.addToken(session, { token });
    return {
      guarded: `${running.dataUrl}/agents/support?session=${session}`,
      direct: agentUrl,
      console: running.consoleUrl,
    };
  };
  const connects = [running.dataUrl, agentUrl].map((url) => new URL(url).origin);
  const servePage = createDemoPage({ running, acts, connects, openSession });
  page.on("request", servePage);
  return { url: `http://127.0.0.1:${portOf(page)}/`, running };
}

/** Streams that are open end with the server. */
function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve());
  });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
