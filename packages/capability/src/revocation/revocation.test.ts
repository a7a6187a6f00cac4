import { expect, test } from "vitest";
import { createRevocationList, formatRevocation, parseRevocations } from "./revocation.js";

const FIRST = { capability_id: "cap-1", revoked_at: 10 };
const SECOND = { capability_id: "cap-1/a", revoked_at: 20 };

test("a written list reads back, and blank lines are skipped", () => {
  const text = `${formatRevocation(FIRST)}\n${formatRevocation(SECOND)}`;
  expect(parseRevocations(text)).toEqual([FIRST, SECOND]);
});

test("the first revocation of an id stays", () => {
  const list = createRevocationList([FIRST]);
  list.revoke({ ...FIRST, revoked_at: 99 });
  expect(list.list()).toEqual([FIRST]);
  expect(list.isRevoked("cap-1")).toBe(true);
  expect(list.isRevoked("cap-2")).toBe(false);
});

test.each([
  "{",
  "[]",
  '{"capability_id":"a"}',
  '{"capability_id":"","revoked_at":1}',
  '{"capability_id":"a","revoked_at":1,"x":1}',
  '{"capability_id":"a","capability_id":"b","revoked_at":1}',
])("a line that is not a revocation stops the parser: %s", (line) => {
  expect(() => parseRevocations(`${formatRevocation(FIRST)}${line}\n`)).toThrow(
    "line 2 is not a revocation",
  );
});

test.each(["", "a\nb", "x".repeat(1025)])(
  "an id that could not be read again is not written: %j",
  (id) => {
    const revocation = { capability_id: id, revoked_at: 1 };
    expect(() => formatRevocation(revocation)).toThrow("token is malformed: capability_id");
    expect(() => createRevocationList().revoke(revocation)).toThrow("token is malformed");
  },
);
