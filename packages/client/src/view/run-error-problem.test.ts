import { expect, test } from "vitest";
import { problemFromRunError } from "./run-error-problem.js";

test("an error without a problem document gives its own code and message", () => {
  const event = { type: "RUN_ERROR", message: "no" } as const;
  expect(problemFromRunError(event)).toEqual({ code: "RUN_ERROR", message: "no", source: "agent" });
  expect(problemFromRunError({ ...event, code: "X", metadata: { countersign: 1 } })).toEqual({
    code: "X",
    message: "no",
    source: "agent",
  });
});

test("of a problem only what has the right kind is taken, and the code stays the event's", () => {
  const details = { receipt: "agui-1", pointer: "/state/ui", remedy: "open it" };
  const problem = { code: "OTHER", detail: "because", status: 403, ...details };
  const event = (told: object) =>
    ({
      type: "RUN_ERROR",
      message: "no",
      code: "X",
      metadata: { countersign: { problem: told } },
    }) as never;
  expect(problemFromRunError(event(problem))).toEqual({
    code: "X",
    message: "because",
    source: "agent",
    status: 403,
    ...details,
  });
  expect(
    problemFromRunError(event({ detail: 1, status: "403", receipt: {}, pointer: 1, remedy: [] })),
  ).toEqual({
    code: "X",
    message: "no",
    source: "agent",
  });
});
