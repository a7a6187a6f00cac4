import { expect, test } from "vitest";
import type { CountResult, CountedLimit, KeyedCountRequest } from "./count-store.js";
import { Exchange } from "./count-exchange.js";
import { ReservedCount } from "./reserved-count.js";
import { VELOCITY } from "./velocity-caps.js";

const LIMIT: CountedLimit = { kind: "window", max: 16, capacity: 16, windowMs: 60_000 };

type Sent = {
  readonly requests: readonly KeyedCountRequest[];
  respond(isThere: boolean): Promise<void>;
};

/** An exchange whose batches are answered on the test's command. */
function start(isGivenUp: (didAnswer: boolean) => boolean = () => false) {
  const sent: Sent[] = [];
  const store = {
    exchange: (requests: readonly KeyedCountRequest[]) =>
      new Promise<CountResult[]>((resolve, reject) => {
        const respond = async (isThere: boolean): Promise<void> => {
          if (isThere)
            resolve(requests.map(({ wanted: given }) => ({ given, used: given, elsewhere: 0 })));
          else reject(new Error("away"));
          await turns();
        };
        sent.push({ requests, respond });
      }),
    sweep: async () => {},
    close: async () => {},
  };
  return { exchange: new Exchange(store, "g", isGivenUp, () => 0), sent };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

const counts = (name: string, length: number): ReservedCount[] =>
  Array.from({ length }, (_, index) => new ReservedCount(`${name}${index}`, 0, VELOCITY.terms));
const keysOf = ({ requests }: Sent): string[] => requests.map(({ key }) => key);

test("a request that a run waits for goes before reports, which fill up the batch", async () => {
  const { exchange, sent } = start();
  for (const held of counts("said", 500)) void exchange.ask(held, LIMIT, 0);
  await turns();
  for (const held of counts("asked", 3)) void exchange.ask(held, LIMIT, 1);
  await sent[0]?.respond(true);
  const keys = sent.slice(1).flatMap(keysOf);
  expect(keys).toHaveLength(200);
  expect(keys.slice(0, 4)).toEqual(["asked0", "asked1", "asked2", "said200"]);
});

test("a count with both a report and a request is sent once, and first", async () => {
  const { exchange, sent } = start();
  const said = counts("said", 300);
  for (const held of said) void exchange.ask(held, LIMIT, 0);
  await turns();
  const [last] = said.slice(-1) as [ReservedCount];
  const answers = [exchange.ask(last, LIMIT, 2), exchange.ask(last, LIMIT, 0)];
  await sent[0]?.respond(true);
  expect(sent.slice(1).flatMap(keysOf).slice(0, 2)).toEqual(["said299", "said200"]);
  expect(sent[1]?.requests[0]?.wanted).toBe(2);
  await sent[1]?.respond(true);
  expect(await Promise.all(answers)).toMatchObject([{ given: 2 }, { given: 2 }]);
  expect([sent.length, exchange.isIdle]).toEqual([2, true]);
});

test("once the store is given up, no waiting request is sent, and each resolves", async () => {
  const { exchange, sent } = start((didAnswer) => !didAnswer);
  const [first, second] = [counts("first", 200), counts("second", 900)];
  const answers = [...first, ...second].map((held) => exchange.ask(held, LIMIT, 1));
  for (const held of second) held.isKnown = true;
  await turns();
  await sent[0]?.respond(false);
  expect(new Set(await Promise.all(answers))).toEqual(new Set([undefined]));
  expect(sent).toHaveLength(1);
  expect(second.filter(({ isKnown }) => isKnown)).toEqual([]);
  // The store may have granted requests that were sent, so they are disowned; the others were not
  // sent.
  expect(first.every(({ hasSettled }) => hasSettled)).toBe(true);
  expect(second.some(({ hasSettled }) => hasSettled)).toBe(false);
  void exchange.ask(second[0] as ReservedCount, LIMIT, 1);
  await turns();
  expect(sent).toHaveLength(2);
});
