import type { JsonObject } from "@countersign/core";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHardenedAgent, serveAgent } from "../agents/index.js";
import type { AgentLogic, RunningAgent } from "../agents/index.js";
import { copyJson } from "../oatf/json/values.js";
import type { NormalizedActor, NormalizedDocument, NormalizedPhase } from "../oatf/index.js";
import { runDocument } from "../runner/run-document.js";
import { librarySources, loadSources } from "./library.js";

const LIBRARY = loadSources(librarySources()).flatMap((loaded) =>
  loaded.ok ? [loaded.document] : [],
);
/** Without those that wait for a clock, which only cost time here. */
const DOCUMENTS = LIBRARY.filter((document) => !JSON.stringify(document).includes('"after"'));
const document = fc.constantFrom(...DOCUMENTS);
const MODES = ["mcp_server", "mcp_client", "a2a_server", "a2a_client", "acme_client"];

let hardened: RunningAgent;

beforeAll(async () => {
  hardened = await serveAgent(createHardenedAgent());
});

afterAll(() => hardened.close());

/** Changes a copy of a document so that it cannot be delivered, or can never match. */
type Mutation = (copy: NormalizedDocument, pick: number, word: string) => void;

function pickFrom<Item>(items: readonly Item[], pick: number): Item {
  const found = items[pick % items.length];
  if (found === undefined) throw new Error("nothing to pick from");
  return found;
}

function phaseNamed(name: string, more: Partial<NormalizedPhase> = {}): NormalizedPhase {
  return { name, ...more };
}

const actorOf = (copy: NormalizedDocument, pick: number): NormalizedActor =>
  pickFrom(copy.attack.execution.actors, pick);

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  "renames a target"(copy, pick, word) {
    const indicator = pickFrom(copy.attack.indicators ?? [], pick);
    const { expression, pattern } = indicator;
    if (expression !== undefined) {
      expression.cel = expression.cel.replaceAll("message.", `message.x${word}_`);
    } else if (pattern !== undefined) {
      pattern.target = `x${word}_${pattern.target ?? indicator.target}`;
    }
  },
  "looks at an event of another name"(copy, pick, word) {
    pickFrom(copy.attack.indicators ?? [], pick).surface = `x${word}`;
  },
  "looks at what the client would have to send"(copy, pick) {
    const indicator = pickFrom(copy.attack.indicators ?? [], pick);
    indicator.surface = "text_message_content";
    indicator.direction = "request";
  },
  "looks at another protocol"(copy, pick) {
    pickFrom(copy.attack.indicators ?? [], pick).protocol = pickFrom(["mcp", "a2a", "acme"], pick);
  },
  "adds an indicator that can never match"(copy, _, word) {
    const { indicators = [] } = copy.attack;
    const target = `x${word}`;
    const [first] = indicators;
    if (first === undefined) return;
    const pattern = { target, condition: { contains: "a" } };
    const { expression: _expression, ...rest } = first;
    indicators.push({ ...rest, id: `${first.id}0`, target, pattern });
  },
  "asks for a value that cannot be"(copy, pick) {
    const indicator = pickFrom(copy.attack.indicators ?? [], pick);
    const { expression, pattern } = indicator;
    if (expression !== undefined) {
      expression.cel = `(${expression.cel}) && message.type == "a" && message.type == "b"`;
    } else if (pattern !== undefined) {
      const conditions = [{ gt: 5, lt: 3 }, { regex: "a^b" }, { any_of: [] }, { gte: 1, lt: 1 }];
      pattern.condition = pickFrom(conditions, pick);
    }
  },
  "empties an input"(copy, pick) {
    // The last one: what an earlier phase prepared may be harmless without it, and work.
    const phase = actorOf(copy, pick).phases.findLast(
      ({ state }) => state?.["run_agent_input"] !== undefined,
    );
    if (phase === undefined) return;
    delete copy.attack.execution["x-countersign-ids"];
    delete phase["x-countersign-body"];
    delete phase["x-countersign-headers"];
    phase.state = { ...phase.state, run_agent_input: {} };
  },
  "fills in a header without a value"(copy, pick, word) {
    const { phases } = actorOf(copy, pick);
    const phase = phases.find(({ state }) => state !== undefined);
    if (phase === undefined) return;
    const written = phase["x-countersign-headers"] as JsonObject | undefined;
    phase["x-countersign-headers"] = { ...written, "x-a": `{{response.x${word}}}` };
  },
  "swaps the mode of an actor"(copy, pick) {
    actorOf(copy, pick).mode = pickFrom(MODES, pick);
  },
  "adds an actor of another mode"(copy, pick, word) {
    const phases = [phaseNamed("serve", { state: { tools: [] } })];
    copy.attack.execution.actors.push({ name: `a${word}`, mode: pickFrom(MODES, pick), phases });
  },
  "inserts a phase that is never over"(copy, pick, word) {
    const { phases } = actorOf(copy, pick);
    // Before the last phase at the latest: behind it nothing is left to be sent.
    const at = pick % phases.length;
    phases.splice(at, 0, phaseNamed(`p${word}`, { trigger: { event: `x${word}` } }));
  },
  "adds a phase that is never reached"(copy, pick, word) {
    const { phases } = actorOf(copy, pick);
    const last = phases.at(-1);
    if (last !== undefined) last.trigger = { event: "run_finished", count: 1000 };
    phases.push(phaseNamed(`p${word}`, { state: { run_agent_input: { messages: [] } } }));
  },
  "renames the input"(copy, pick, word) {
    const { phases } = actorOf(copy, pick);
    const [first] = phases;
    if (first?.state === undefined) return;
    const { run_agent_input: input = {}, ...rest } = first.state;
    first.state = { ...rest, [`x${word}`]: input };
  },
  "adds a payload that no binding sends"(copy, pick, word) {
    const [first] = actorOf(copy, pick).phases;
    if (first?.state !== undefined) first.state = { ...first.state, [`y${word}`]: [1] };
  },
  "fills in a template without a value"(copy, pick, word) {
    const [first] = actorOf(copy, pick).phases;
    const input = first?.state?.["run_agent_input"];
    if (first?.state === undefined) return;
    first.state = {
      ...first.state,
      run_agent_input: { ...(input as JsonObject), extra: `{{response.x${word}}}` },
    };
  },
};

const word = fc.stringMatching(/^[a-z]{1,8}$/);

test.each(Object.entries(MUTATIONS))(
  "a document is never resisted when somebody %s",
  async (_, mutate) => {
    await fc.assert(
      fc.asyncProperty(document, fc.nat(), word, async (original, pick, name) => {
        const copy = copyJson(original as unknown as JsonObject) as unknown as NormalizedDocument;
        mutate(copy, pick, name);
        const ran = await runDocument(copy, { target: hardened.url, refusalsCount: true });
        expect(["error", "unsupported"], `${copy.attack.id}`).toContain(ran.outcome);
        expect(ran.reason).toMatch(/actor|indicator|performs/);
      }),
      { numRuns: 40 },
    );
  },
);

/** The hardened agent, whose answer to one of the requests breaks off. */
function cutting(request: number, keep: number): AgentLogic & { readonly cuts: number } {
  const whole = createHardenedAgent();
  let seen = 0;
  let cuts = 0;
  return {
    get cuts() {
      return cuts;
    },
    async answer(asked) {
      const answer = await whole.answer(asked);
      const isMeant = seen === request;
      seen += 1;
      if (!isMeant || !("events" in answer)) return answer;
      const events = [...answer.events];
      // The last event ends the run: without it the stream is not whole.
      cuts += 1;
      return { ...answer, events: events.slice(0, keep % events.length) };
    },
  };
}

test("a document is never resisted when the stream of any of its runs breaks off", async () => {
  await fc.assert(
    fc.asyncProperty(document, fc.nat(2), fc.nat(), async (original, request, keep) => {
      const logic = cutting(request, keep);
      const agent = await serveAgent(logic);
      try {
        const ran = await runDocument(original, { target: agent.url, refusalsCount: true });
        fc.pre(logic.cuts > 0);
        expect([original.attack.id, ran.outcome]).toEqual([original.attack.id, "error"]);
      } finally {
        await agent.close();
      }
    }),
    { numRuns: 120 },
  );
});
