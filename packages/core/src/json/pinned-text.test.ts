import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { parseJson } from "./parse.js";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heapMegabytes(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

test.each([
  ["plain", "key", "an-id-of-some-length"],
  ["with an escape in a key", String.raw`\u006bey`, "an-id-of-some-length"],
  [
    "with escapes in a key and in the kept value",
    String.raw`\u006bey`,
    String.raw`an-\u0069d-of-some-\u006cength`,
  ],
])("what is kept of a text does not keep the text: %s", (_, key, id) => {
  const kept: unknown[] = [];
  const before = heapMegabytes();
  for (let number = 0; number < 40; number += 1) {
    const text = `{"${key}":"${"x".repeat(2 ** 20)}","id":"${id}-${number}"}`;
    kept.push((parseJson(text) as { id: string }).id);
  }
  expect(heapMegabytes() - before).toBeLessThan(5);
  expect(kept[39]).toBe("an-id-of-some-length-39");
});
