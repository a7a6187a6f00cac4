import { sseFrame } from "@countersign/testkit";
import type { KeyedStore } from "../store/keyed-store.js";
import { sendTo } from "./begun-thread.js";
import type { Answer } from "./begun-thread.js";
import { idsOf, inRun } from "./events.js";
import { startFixture } from "./fixture.js";
import type { Fixture, FixtureOptions } from "./fixture.js";

/** The basic catalogue of A2UI 0.9. */
export const CATALOGUE = "https://a2ui.org/specification/v0_9/basic_catalog.json";

/** A policy under which the check of clicks decides. */
export const clickPolicy = (request = "", rules = ""): string => `hushspec: "0.1.0"
rules:
  ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }
  ag_ui_inbound: { default: allow }
  ag_ui_request:
    forwarded_props: { allow: [a2uiAction, __proxiedMCPRequest] }
    ${request}
${rules}`;

/** A button with its label, and the keys of its context. */
export function button(id: string, name: string, keys: readonly string[] = []): object[] {
  const context = Object.fromEntries(keys.map((key) => [key, { path: `/${key}` }]));
  return [
    { id, component: "Button", child: `${id}-text`, action: { event: { name, context } } },
    { id: `${id}-text`, component: "Text", text: `Press ${name}` },
  ];
}

/** The operations that draw buttons in a column. */
export function drawing(surfaceId: string, ...parts: readonly object[][]): object[] {
  const ids = parts.map(([first]) => (first as { id: string }).id);
  const root = { id: "root", component: "Column", children: ids };
  return [
    { version: "v0.9", createSurface: { surfaceId, catalogId: CATALOGUE } },
    { version: "v0.9", updateComponents: { surfaceId, components: [root, ...parts.flat()] } },
  ];
}

/** An activity with A2UI operations. */
export function shows(operations: readonly object[], messageId = "a1"): object {
  return {
    type: "ACTIVITY_SNAPSHOT",
    messageId,
    activityType: "a2ui-surface",
    content: { a2ui_operations: operations },
  };
}

/** The activity of an MCP App. */
export function showsApp(server: string, uri: string, messageId = `app-${server}`): object {
  return {
    type: "ACTIVITY_SNAPSHOT",
    messageId,
    activityType: "mcp-apps",
    content: {
      result: { content: [] },
      resourceUri: uri,
      serverId: server,
      serverHash: `hash-${server}`,
      toolInput: {},
    },
  };
}

/** A click as the A2UI middleware expects it. */
export function clicks(
  surfaceId: string,
  sourceComponentId: string,
  name: string,
  context: object = {},
): object {
  const timestamp = "2026-11-18T12:00:00Z";
  const userAction = { name, surfaceId, sourceComponentId, timestamp, context };
  return { a2uiAction: { userAction } };
}

/** One thread at several gateways, whose agent draws what the test says. */
export type SurfaceThread = {
  readonly gateways: readonly Fixture[];
  /** Runs these events of the agent. */
  draw(events: readonly object[], at?: number): Promise<Answer>;
  /** Sends forwarded properties; the agent answers with these events. */
  send(forwardedProps: object, events?: readonly object[], at?: number): Promise<Answer>;
  /** Begins another thread at the same gateways. */
  begin(): void;
  /** Replaces a gateway by a new one, on the same ledger unless another is given. */
  restart(at: number, ledger?: KeyedStore): Promise<void>;
  stop(): Promise<void>;
};

let threads = 0;

/** Starts gateways on these ledgers, in order. */
export async function openSurfaceThread(
  options: FixtureOptions & { readonly ledgers?: readonly (KeyedStore | undefined)[] } = {},
): Promise<SurfaceThread> {
  const { ledgers = [undefined], ...rest } = options;
  const script = new Map<string, readonly object[]>();
  const start = (ledger: KeyedStore | undefined): Promise<Fixture> =>
    startFixture(
      ({ body }) => {
        const ids = idsOf(body);
        const events = script.get(ids.runId) ?? [];
        const [first] = events as readonly { type?: string }[];
        return {
          pieces: (first?.type === "RUN_STARTED" ? events : inRun(ids, events)).map(sseFrame),
        };
      },
      {
        policy: clickPolicy(),
        ...rest,
        gateway: { ...rest.gateway, ...(ledger === undefined ? {} : { ledger: kept(ledger) }) },
      },
    );
  const gateways: Fixture[] = [];
  for (const ledger of ledgers) gateways.push(await start(ledger));
  let threadId = "";
  let runs = 0;
  const begin = (): void => {
    threadId = `surfaces-${(threads += 1)}`;
    runs = 0;
  };
  begin();
  const send: SurfaceThread["send"] = (forwardedProps, events = [], at = 0) => {
    const runId = `${threadId}-${(runs += 1)}`;
    const text = JSON.stringify(events).replaceAll("RUN_ID", runId).replaceAll("THREAD", threadId);
    script.set(runId, JSON.parse(text) as readonly object[]);
    const input = { threadId, runId, protocolVersion: "1.0", messages: [], forwardedProps };
    return sendTo(gateways[at] as Fixture, JSON.stringify(input));
  };
  return {
    gateways,
    send,
    begin,
    draw: async (events, at) => {
      const answer = await send({}, events, at);
      if (answer.status !== 200) throw new TypeError(`the run was refused: ${answer.text}`);
      return answer;
    },
    restart: async (at, ledger = ledgers[at]) => {
      await gateways[at]?.stop();
      gateways[at] = await start(ledger);
    },
    stop: async () => {
      for (const gateway of gateways) await gateway.stop();
    },
  };
}

/** A ledger that a gateway does not close when it stops. */
function kept(ledger: KeyedStore): KeyedStore {
  return {
    write: (...args) => ledger.write(...args),
    claim: (...args) => ledger.claim(...args),
    forget: (before) => ledger.forget(before),
    close: () => Promise.resolve(),
  };
}
