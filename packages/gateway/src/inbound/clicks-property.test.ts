import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SYSTEM_CLOCK } from "../base/ports.js";
import { createMemoryStore } from "../store/memory-store.js";
import { button, clicks, drawing, openSurfaceThread, shows } from "../testing/surface-thread.js";
import type { SurfaceThread } from "../testing/surface-thread.js";

const MESSAGES = ["a1", "a2"] as const;
const SURFACES = ["s1", "s2"] as const;
const BUTTONS = ["b1", "b2"] as const;
/** Actions with the keys of their context. */
const ACTIONS = { go: [], pay: ["id"] } as const;
type ActionName = keyof typeof ACTIONS;
const NAMES = Object.keys(ACTIONS) as ActionName[];

type Button = { readonly name: ActionName; readonly label: number };
type Content = { readonly [surface: string]: { readonly [button: string]: Button } };

/** The acts of the agent in a run. */
type AgentAct =
  | { readonly do: "show"; readonly message: string; readonly content: Content }
  | { readonly do: "delete"; readonly message: string; readonly surface: string }
  | { readonly do: "retype"; readonly message: string }
  | { readonly do: "list"; readonly keeps: readonly string[] };

type Act =
  | { readonly do: "run"; readonly acts: readonly AgentAct[]; readonly at: 0 | 1 }
  | {
      readonly do: "click";
      readonly at: 0 | 1;
      readonly surface: string;
      readonly button: string;
      readonly name: ActionName;
      readonly keys: readonly string[];
      /** Picks a button that is shown, instead of these names. */
      readonly isGenuine: boolean;
      readonly pick: number;
    }
  | { readonly do: "restart"; readonly at: 0 | 1 };

const message = fc.constantFrom(...MESSAGES);
const surface = fc.constantFrom(...SURFACES, "s3");
const shown = fc.record({ name: fc.constantFrom(...NAMES), label: fc.nat(1) });
const buttons = fc.dictionary(fc.constantFrom(...BUTTONS), shown, { minKeys: 1, maxKeys: 2 });
const content = fc.dictionary(fc.constantFrom(...SURFACES), buttons, { minKeys: 1, maxKeys: 2 });
const place = fc.constantFrom(0 as const, 1 as const);
const agentAct: fc.Arbitrary<AgentAct> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("show" as const), message, content }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("delete" as const), message, surface }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("retype" as const), message }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("list" as const), keeps: fc.subarray([...MESSAGES]) }),
  },
);
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("run" as const),
      acts: fc.array(agentAct, { minLength: 1, maxLength: 3 }),
      at: place,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("click" as const),
      at: place,
      surface,
      button: fc.constantFrom(...BUTTONS, "root", "b1-text"),
      name: fc.constantFrom(...NAMES),
      keys: fc.subarray(["id", "to"]),
      isGenuine: fc.boolean(),
      pick: fc.nat(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const), at: place }) },
);

/** A person at the screen: what is drawn, and which buttons were pressed in the form they have. */
class Screen {
  readonly #drawn = new Map<string, Map<string, Map<string, Button & { isUsed: boolean }>>>();

  apply(one: AgentAct): void {
    if (one.do === "retype") this.#drawn.delete(one.message);
    else if (one.do === "delete") this.#drawn.get(one.message)?.delete(one.surface);
    else if (one.do === "list") {
      // A list with an activity removes those that it leaves out.
      for (const id of MESSAGES) if (!one.keeps.includes(id)) this.#drawn.delete(id);
    } else {
      const before = this.#drawn.get(one.message);
      const after = Object.entries(one.content).map(([id, parts]) => {
        const known = before?.get(id);
        const drawn = Object.entries(parts).map(([key, part]) => {
          const old = known?.get(key);
          const isSame = old?.name === part.name && old.label === part.label;
          return [key, { ...part, isUsed: isSame && old.isUsed }] as const;
        });
        return [id, new Map(drawn)] as const;
      });
      this.#drawn.set(one.message, new Map(after));
    }
  }

  has(message: string): boolean {
    return this.#drawn.has(message);
  }

  contentOf(message: string): Content {
    const surfaces = [...(this.#drawn.get(message) ?? [])];
    return Object.fromEntries(
      surfaces.map(([id, parts]) => [
        id,
        Object.fromEntries([...parts].map(([key, { name, label }]) => [key, { name, label }])),
      ]),
    );
  }

  /** Every button, with its place. */
  all(): { surface: string; button: string; name: ActionName }[] {
    return [...this.#drawn.values()].flatMap((surfaces) =>
      [...surfaces].flatMap(([id, parts]) =>
        [...parts].map(([key, { name }]) => ({ surface: id, button: key, name })),
      ),
    );
  }

  /** Presses a button; returns the code of the refusal, if any. */
  press(id: string, key: string, name: ActionName, keys: readonly string[]): string | undefined {
    const found = [...this.#drawn.values()]
      .map((surfaces) => surfaces.get(id)?.get(key))
      .filter((part) => part?.name === name);
    if (found.length === 0) return "ERR_REQUEST_ACTION_UNKNOWN";
    const declared: readonly string[] = ACTIONS[name];
    if (keys.some((one) => !declared.includes(one))) return "ERR_REQUEST_ACTION_CONTEXT";
    if (found.every((part) => part?.isUsed === true)) return "ERR_REQUEST_ACTION_USED";
    for (const part of found) if (part !== undefined) part.isUsed = true;
    return undefined;
  }
}

function operationsOf(content: Content): object[] {
  return Object.entries(content).flatMap(([id, parts]) =>
    drawing(
      id,
      ...Object.entries(parts).map(([key, { name, label }]) => {
        const [press, text] = button(key, name, ACTIONS[name]);
        return [press, { ...text, text: `${name} ${label}` }] as object[];
      }),
    ),
  );
}

/** The events of an act, and whether the screen can have them. */
function eventsOf(one: AgentAct, screen: Screen): object[] {
  switch (one.do) {
    case "show":
      return [shows(operationsOf(one.content), one.message)];
    case "retype":
      return [
        { type: "ACTIVITY_SNAPSHOT", messageId: one.message, activityType: "note", content: {} },
      ];
    case "delete": {
      if (!screen.has(one.message)) return [];
      const gone = { version: "v0.9", deleteSurface: { surfaceId: one.surface } };
      return [shows([...operationsOf(screen.contentOf(one.message)), gone], one.message)];
    }
    case "list":
      return [
        {
          type: "MESSAGES_SNAPSHOT",
          messages: [
            { id: "note", role: "activity", activityType: "note", content: {} },
            ...one.keeps
              .filter((id) => screen.has(id))
              .map((id) => ({
                id,
                role: "activity",
                activityType: "a2ui-surface",
                content: { a2ui_operations: operationsOf(screen.contentOf(id)) },
              })),
          ],
        },
      ];
  }
}

let thread: SurfaceThread;
beforeAll(async () => {
  const ledger = createMemoryStore(SYSTEM_CLOCK);
  thread = await openSurfaceThread({ ledgers: [ledger, ledger] });
});
afterAll(() => thread.stop());

test("exactly the clicks on what is on the screen pass, each once, at two gateways that restart", async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 4, maxLength: 16 }), async (acts) => {
      thread.begin();
      const screen = new Screen();
      const codes: (string | undefined)[] = [];
      const expected: (string | undefined)[] = [];
      for (const one of acts) {
        if (one.do === "restart") await thread.restart(one.at);
        else if (one.do === "run") {
          const events: object[] = [];
          for (const agents of one.acts) {
            events.push(...eventsOf(agents, screen));
            screen.apply(agents);
          }
          await thread.draw(events, one.at);
        } else {
          const all = screen.all();
          const drawn = one.isGenuine ? all[one.pick % all.length] : undefined;
          const { surface: id, button: key, name } = drawn ?? one;
          const keys = drawn === undefined ? one.keys : ACTIONS[name];
          const context = Object.fromEntries(keys.map((member) => [member, one.pick]));
          expected.push(screen.press(id, key, name, keys));
          const answer = await thread.send(clicks(id, key, name, context), [], one.at);
          codes.push(answer.code);
        }
      }
      expect(codes).toEqual(expected);
      accepted += expected.filter((code) => code === undefined).length;
    }),
    { numRuns: Number(process.env["COUNTERSIGN_FUZZ_RUNS"] ?? 60) },
  );
  expect(accepted).toBeGreaterThan(20);
}, 120_000);
