import { expect, test } from "vitest";
import { createUlid } from "./mint.js";

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/u;

test("identifiers are ULIDs that contain the time, each larger than the one before", () => {
  let now = 1_469_918_176_385;
  const ulid = createUlid(() => now);
  let before = "";
  for (let index = 0; index < 5000; index += 1) {
    if (index % 1000 === 999) now += 1;
    const id = ulid();
    expect(id).toMatch(ULID);
    expect(id > before).toBe(true);
    before = id;
  }
  expect(createUlid(() => 1_469_918_176_385)().slice(0, 10)).toBe("01ARYZ6S41");
});

test("a clock that runs backwards makes no identifier smaller", () => {
  let now = 1000;
  const ulid = createUlid(() => now);
  const first = ulid();
  now = 10;
  expect(ulid() > first).toBe(true);
});

test("identifiers above the capacity of one millisecond continue in the next, still in order", () => {
  let now = 5;
  const ulid = createUlid(() => now);
  let before = ulid();
  for (let index = 0; index < 32 ** 4; index += 1) {
    const id = ulid();
    if (id <= before) throw new Error(`${id} after ${before}`);
    before = id;
  }
  expect(before.slice(0, 10)).toBe("0000000006");
  now = 6;
  expect(ulid() > before).toBe(true);
});
