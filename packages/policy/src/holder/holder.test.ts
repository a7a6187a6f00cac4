import { expect, test } from "vitest";
import { policyOf } from "../testing/judge.js";
import { createPolicyHolder } from "./holder.js";

test("a policy that does not load leaves the last good one in force", () => {
  const first = policyOf("ag_ui: {}\n");
  const holder = createPolicyHolder(first);
  expect(holder.replace("ag_ui: { enabled: maybe }\n")).toMatchObject({ replaced: false });
  expect(holder.current).toBe(first);
  expect(holder.issues).toHaveLength(1);
  const result = holder.replace("ag_ui: { transport: sse }\n");
  expect(result).toMatchObject({ replaced: true, changed: true });
  expect(holder.current.hash).not.toBe(first.hash);
  expect(holder.issues).toEqual([]);
});

test("an equivalent policy is not a change", () => {
  const first = policyOf("ag_ui: { transport: sse, max_events_per_second: 5 }\n");
  const holder = createPolicyHolder(first);
  const text =
    'hushspec: "0.1.0"\nrules:\n  ag_ui:\n    max_events_per_second: 5\n    transport: sse\n';
  expect(holder.replace(text)).toMatchObject({ replaced: true, changed: false });
  expect(holder.current).toBe(first);
});
