import type { HashedDraft } from "@countersign/receipts/log";
import { sseFrame } from "@countersign/testkit";
import type { Message } from "@countersign/wire";
import { createMemoryStore } from "../store/memory-store.js";
import type { KeyedStore } from "../store/keyed-store.js";
import { SYSTEM_CLOCK } from "../base/ports.js";
import { ASK } from "./begun-thread.js";
import { idsOf } from "./events.js";
import { startFixture } from "./fixture.js";
import type { Fixture } from "./fixture.js";
import { FIRST_RUN, READING_POLICY } from "./older-acts.js";
import type { Act } from "./older-acts.js";
import { PersonsEnd } from "./persons-end.js";
import type { Repeats, Transport } from "./persons-end.js";

/** A way to request the later runs of a thread. */
export type RequestForm = {
  readonly repeats: Repeats;
  /**
   * True when every other run is at the second gateway, which knows the thread only from the
   * ledger.
   */
  readonly moves: boolean;
  /** The transport of requests with an input. */
  readonly transport?: Transport;
  /** True when the agent starts the later runs on the stream of the first request. */
  readonly joins?: boolean;
  /** Further members of the requests. */
  readonly fields?: object;
};

/** The decision about one event. */
export type Verdict = readonly [eventType: unknown, allowed: boolean, rule: string | undefined];

/** The decisions of each run on a thread, and the client's messages at the end. */
export type ThreadResult = {
  readonly verdicts: readonly Verdict[][];
  readonly messages: Message[];
};

/** Two gateways with one agent that the test controls. */
export type GatewayPair = {
  talk(
    form: RequestForm,
    first: readonly object[],
    later: readonly (readonly Act[])[],
  ): Promise<ThreadResult>;
  stop(): Promise<void>;
};

/** Starts two gateways on one ledger, or on two that share their storage. */
export async function startPair({
  policy = READING_POLICY,
  ledgers,
}: {
  policy?: string;
  ledgers?: readonly [KeyedStore, KeyedStore];
} = {}): Promise<GatewayPair> {
  const script = new Map<string, string>();
  const memory = createMemoryStore(SYSTEM_CLOCK);
  const start = (ledger: KeyedStore): Promise<Fixture> =>
    startFixture(
      ({ body }) => {
        const { threadId, runId } = idsOf(body);
        const text = script.get(runId) ?? "[]";
        const events = text.replaceAll("THREAD", threadId).replaceAll("RUN_ID", runId);
        return { pieces: (JSON.parse(events) as object[]).map(sseFrame) };
      },
      { policy, gateway: { ledger } },
    );
  const [one = memory, other = memory] = ledgers ?? [];
  const pair = [await start(one), await start(other)] as const;
  let count = 0;

  const talk: GatewayPair["talk"] = async (form, first, later) => {
    const { repeats, moves, fields, transport } = form;
    const person = new PersonsEnd(`t${(count += 1)}`);
    const acted = later.map((acts) => acts.flatMap(({ events }) => events));
    if (form.joins === true) {
      script.set(`${person.threadId}-1`, JSON.stringify(asOneStream([first, ...acted])));
      const [gateway] = pair;
      const before = gateway.recorder.drafts.length;
      await person.run(gateway, "all of it", { tools: [ASK], ...fields }, transport);
      const verdicts = verdictsOf(gateway.recorder.drafts.slice(before));
      return { verdicts: [verdicts], messages: person.messages };
    }
    const runs = [first, ...acted];
    const verdicts: Verdict[][] = [];
    for (const [index, events] of runs.entries()) {
      const gateway = pair[moves && index % 2 === 1 ? 1 : 0];
      const isWhole = index > 0 || first === FIRST_RUN;
      script.set(`${person.threadId}-${index + 1}`, JSON.stringify(asRun(events, isWhole)));
      const before = gateway.recorder.drafts.length;
      // A GET stream carries no message of the person, so the thread begins with a request.
      const asked = index === 0 && repeats === "no request" ? "nothing" : repeats;
      const tools = index === 0 ? { tools: [ASK] } : {};
      await person.run(gateway, asked, { ...tools, ...fields }, transport);
      verdicts.push(verdictsOf(gateway.recorder.drafts.slice(before)));
    }
    return { verdicts, messages: person.messages };
  };

  return {
    talk,
    stop: async () => {
      for (const gateway of pair) await gateway.stop();
    },
  };
}

/** The decisions about the events of an agent. */
function verdictsOf(drafts: readonly HashedDraft[]): Verdict[] {
  return drafts
    .filter(({ direction }) => direction === "outbound")
    .map(({ receipt, rule }) => [receipt.event_type, receipt.allowed, rule]);
}

/** Several runs on one stream; the first run has the id of the request. */
function asOneStream(runs: readonly (readonly object[])[]): object[] {
  return runs.flatMap((events, index) => {
    const text = JSON.stringify(asRun(events, true));
    return JSON.parse(
      index === 0 ? text : text.replaceAll("RUN_ID", `RUN_ID-${index}`),
    ) as object[];
  });
}

/** Adds the start and the end of a run to the events. */
function asRun(events: readonly object[], isWhole: boolean): object[] {
  const ids = { threadId: "THREAD", runId: "RUN_ID" };
  const [first] = events as readonly { type?: string }[];
  return [
    ...(first?.type === "RUN_STARTED" ? [] : [{ type: "RUN_STARTED", ...ids }]),
    ...events,
    ...(isWhole ? [{ type: "RUN_FINISHED", ...ids }] : []),
  ];
}
