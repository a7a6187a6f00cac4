import { isCountersignError } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseDuration } from "./duration.js";

test.each([
  ["0s", 0],
  ["30s", 30],
  ["5m", 300],
  ["1h", 3600],
  ["2d", 172_800],
  ["PT30S", 30],
  ["PT5M", 300],
  ["PT1H30M", 5400],
  ["PT1H5S", 3605],
  ["P1D", 86_400],
  ["P1DT12H", 129_600],
])("%s is %d seconds", (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds);
});

test.each([
  "",
  "s",
  "30",
  "1.5s",
  "-1s",
  "1w",
  "P1W",
  "P1M",
  "P",
  "PT",
  "P1DT",
  "PT1S5M",
  "pt5s",
  " 5s",
  "5s\n",
  "99999999999999999999d",
])("%j is no duration", (text) => {
  let thrown: unknown;
  try {
    parseDuration(text);
  } catch (error) {
    thrown = error;
  }
  expect(isCountersignError(thrown, "ERR_OATF_DURATION")).toBe(true);
});

test("both notations of the same time agree", () => {
  fc.assert(
    fc.property(fc.nat(100_000), (count) => {
      expect(parseDuration(`${count}m`)).toBe(parseDuration(`PT${count}M`));
      expect(parseDuration(`${count}d`)).toBe(parseDuration(`P${count}D`));
    }),
  );
});
