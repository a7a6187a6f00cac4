import type { JsonValue } from "@countersign/core";
import { defaultApplyEvents, transformChunks, verifyEvents } from "@ag-ui/client";
import { from, tap } from "rxjs";
import type { AgUiEvent } from "../model/event.js";
import type { RunAgentInput } from "../model/input.js";
import type { Message } from "../model/message.js";
import type { Interrupt } from "../model/run.js";

/** The result of the official chunk expansion and verification for a stream. */
export type OfficialVerdict = {
  /** The events that passed. */
  passed: AgUiEvent[];
  /** The index of the event it refused, if any. */
  failedAt: number | undefined;
  message: string | undefined;
};

type OfficialEvents = Parameters<ReturnType<typeof verifyEvents>>[0];

/** Runs `transformChunks` and `verifyEvents` of the real client over a stream, synchronously. */
export function officialVerdict(events: readonly AgUiEvent[]): OfficialVerdict {
  const verdict: OfficialVerdict = { passed: [], failedAt: undefined, message: undefined };
  let index = -1;
  const source = from(events).pipe(tap(() => index++)) as unknown as OfficialEvents;
  source.pipe(transformChunks(), verifyEvents()).subscribe({
    next: (event) => verdict.passed.push(event as unknown as AgUiEvent),
    error: (error: unknown) => {
      verdict.failedAt = index;
      verdict.message = error instanceof Error ? error.message : String(error);
    },
  });
  return verdict;
}

/** The result of the official reducer for a stream of expanded, verified events. */
export type OfficialResult = {
  messages: Message[];
  state: JsonValue | undefined;
  pendingInterrupts: Interrupt[];
  pendingToolCallIds: string[] | undefined;
};

type ApplyParameters = Parameters<typeof defaultApplyEvents>;

/** Runs `defaultApplyEvents` of the real client over a stream. */
export async function officialResult(
  input: RunAgentInput,
  events: readonly AgUiEvent[],
): Promise<OfficialResult> {
  const agent = {
    messages: input.messages,
    state: input.state,
    pendingInterrupts: [] as Interrupt[],
  };
  const result: OfficialResult = {
    messages: input.messages,
    state: input.state,
    pendingInterrupts: [],
    pendingToolCallIds: undefined,
  };
  const subscriber: ApplyParameters[3][number] = {
    onRunFinishedEvent: (finished) => {
      result.pendingToolCallIds =
        finished.outcome === "success" ? finished.pendingToolCallIds : undefined;
    },
  };
  const source = from(structuredClone(events) as unknown as AgUiEvent[]);
  const applied = defaultApplyEvents(
    input as unknown as ApplyParameters[0],
    source as unknown as ApplyParameters[1],
    agent as unknown as ApplyParameters[2],
    [subscriber],
  );
  await new Promise<void>((resolve, reject) => {
    applied.subscribe({
      next: (mutation) => {
        if (mutation.messages !== undefined) result.messages = mutation.messages as Message[];
        if (mutation.state !== undefined) result.state = mutation.state as JsonValue;
      },
      error: reject,
      complete: resolve,
    });
  });
  result.pendingInterrupts = agent.pendingInterrupts;
  return result;
}
