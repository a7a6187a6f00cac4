import { compilePolicy, loadPolicy } from "@countersign/policy";
import { expect, test, vi } from "vitest";
import type { ThreadState } from "../thread/thread-state.js";
import { approvalsOf } from "./approval.js";

const POLICY = compilePolicy(loadPolicy('hushspec: "0.1.0"\nrules: {}\n'));
const THREAD = { calls: new Map(), declined: [] } as unknown as ThreadState;

test("a call costs the same after one answer and after thousands of names that answers are about", () => {
  const fold = vi.spyOn(String.prototype, "normalize");
  const costOf = (answers: number): number => {
    const approvals = Array.from({ length: answers }, (_, at) => ({
      call: { id: `q${at}` },
      isGranted: true,
      tools: Array.from({ length: 60 }, (__, tool) => `tool_${at}_${tool}`),
    }));
    const about = approvalsOf(POLICY, approvals, THREAD);
    fold.mockClear();
    for (let at = 0; at < 100; at += 1) expect(about?.isAbout(`other_${at}`, `c${at}`)).toBe(false);
    return fold.mock.calls.length;
  };
  try {
    expect(costOf(50)).toBe(costOf(1));
  } finally {
    fold.mockRestore();
  }
});
