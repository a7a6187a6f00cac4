import { RUNTIME_OWNER } from "@countersign/projection";
import type { LedgerEvent } from "@countersign/projection";
import type { ResumeBinding, ResumeDecision, SubmitInput } from "@countersign/projection/input";
import type { UserMessage } from "@countersign/wire";
import type { Ledger } from "./ledger.js";
import { answer } from "./model.js";
import type { ModelCall } from "./model.js";
import { SHELF_OWNER, stockOf } from "./shelf.js";

/** The event that opens a run keeps the client's run id. */
type Opening = { clientRunId?: string };

/** Turns a submission into facts. It knows nothing of AG-UI: frames are made from what it records. */
export class Runtime {
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Whether a run of the thread has started and neither ended nor stopped to ask. */
  isBusy(thread: string): boolean {
    const last = this.#lastStep(thread);
    return last !== undefined && opensRun(last);
  }

  /** The question that is open on a thread. */
  openInterrupts(thread: string): ResumeBinding[] {
    const last = this.#lastStep(thread);
    if (last?.kind !== "agent.run.interrupted") return [];
    const { runId, turn, interruptId, decision } = last.payload as Interrupted;
    const { gateRef } = decision;
    const decisionRef = `decision:${last.id}`;
    return [{ interruptId, runId, turn, gateRef, decisionRef, requestKind: "approval" }];
  }

  /** Opens a run, or resumes an interrupted one; returns the run and the id of the event that opens it. */
  open(
    thread: string,
    submit: SubmitInput,
    clientRunId: string,
  ): { runId: number; openedBy: number } {
    const decision = submit.resume?.[0];
    if (decision === undefined) {
      const runId = this.#record(thread, "agent.run.started", {
        intent: submit.intent,
        clientRunId,
      });
      return { runId, openedBy: runId };
    }
    const openedBy = this.#record(thread, "agent.run.resumed", {
      runId: decision.runId,
      turn: decision.turn,
      interruptId: decision.interruptId,
      resume: decision.resume,
      resumedAtEventId: this.#lastId(thread),
      clientRunId,
    });
    return { runId: decision.runId, openedBy };
  }

  /** Does the work of a run that was opened. Whatever happens, the ledger says how it ended. */
  async run(thread: string, runId: number, submit: SubmitInput): Promise<void> {
    try {
      await this.#work(thread, runId, submit);
    } catch (error) {
      const cause = error instanceof Error ? error.message : "unknown";
      this.#record(thread, "agent.aborted.tool_error", { runId, tokensUsed: 0, cause });
    }
  }

  /** Ends the runs that a crash left open, so that they do not look active. */
  recover(): void {
    for (const thread of this.#ledger.threads()) {
      if (!this.isBusy(thread)) continue;
      const opening = this.#ledger.read(thread).findLast(opensRun);
      const runId = opening === undefined ? undefined : runOf(opening);
      if (runId !== undefined) {
        this.#record(thread, "agent.aborted.upstream_failure", { runId, tokensUsed: 0 });
      }
    }
  }

  async #work(thread: string, runId: number, submit: SubmitInput): Promise<void> {
    const decision = submit.resume?.[0];
    if (decision !== undefined) {
      this.#decide(thread, decision);
      return;
    }
    const turn = { id: runId, index: 0 };
    this.#record(thread, "chat.ingested", {
      runId,
      intent: submit.intent,
      context: submit.context,
    });
    this.#record(thread, "llm.requested", { runId, turn, modelId: "rules-1", toolNames: [] });
    await new Promise((resolve) => setTimeout(resolve, 20));
    const { text, call } = answer(submit.intent);
    const callId = `call-${runId}`;
    const items: object[] = [{ type: "message", text }];
    if (call !== undefined) items.push(callItem(callId, call));
    this.#respond(thread, turn, items);
    if (call === undefined) this.#complete(thread, runId, text);
    else if (call.name === "discard") this.#ask(thread, runId, callId, call);
    else this.#execute(thread, runId, callId, call);
  }

  /** The client's name for each event that opens a run. */
  clientRunIds(thread: string): Map<number, string> {
    const names = new Map<number, string>();
    for (const event of this.#ledger.read(thread).filter(opensRun)) {
      const { clientRunId } = event.payload as Opening;
      if (clientRunId !== undefined) names.set(event.id, clientRunId);
    }
    return names;
  }

  /** The person's messages on a thread up to an event. */
  saidBy(thread: string, lastId: number): UserMessage[] {
    const said = new Map<string, UserMessage>();
    for (const { id, kind, payload } of this.#ledger.read(thread)) {
      if (kind !== "chat.ingested" || id > lastId) continue;
      const { context } = payload as { context: { agUi: { messages: UserMessage[] } } };
      for (const message of context.agUi.messages) said.set(message.id, message);
    }
    return [...said.values()];
  }

  #ask(thread: string, runId: number, toolCallId: string, call: ModelCall): void {
    const payload: Interrupted = {
      runId,
      turn: { id: runId, index: 0 },
      interruptId: `approve-${toolCallId}`,
      reason: "approval_required",
      resumeSchema: {
        type: "object",
        properties: { approved: { type: "boolean" } },
        required: ["approved"],
      },
      tokensUsed: 0,
      decision: {
        gateRef: "gate:discard",
        subjectRef: `item:${call.args.item}`,
        toolCallId,
        toolName: call.name,
      },
    };
    this.#record(thread, "agent.run.interrupted", payload);
  }

  #decide(thread: string, { runId, resume }: ResumeDecision): void {
    const events = this.#ledger.read(thread);
    const asked = events.findLast(({ kind }) => kind === "agent.run.interrupted");
    if (asked === undefined) throw new TypeError("nothing was asked");
    const { toolCallId, toolName, subjectRef } = (asked.payload as Interrupted).decision;
    const args = { item: subjectRef.slice("item:".length) };
    if (resume["approved"] === true) {
      this.#execute(thread, runId, toolCallId, { name: "discard", args });
      return;
    }
    this.#record(thread, "tool.rejected", {
      runId,
      toolCallId,
      name: toolName,
      args,
      execution: {},
      claim: { rejectionKind: "declined" },
      diagnostics: { phase: "policy", reason: "the person declined" },
    });
    this.#complete(thread, runId, "Nothing was thrown away.");
  }

  #execute(thread: string, runId: number, toolCallId: string, call: ModelCall): void {
    const { item } = call.args;
    const left = stockOf(this.#ledger.read(thread), item);
    const taken =
      call.name === "sell" ? (call.args.count ?? 1) : call.name === "discard" ? left : 0;
    if (taken > left) {
      this.#complete(thread, runId, `There are only ${left} ${item} left.`, toolCallId, call, {
        left,
      });
      return;
    }
    if (taken > 0) {
      const payload = {
        item,
        change: -taken,
        left: left - taken,
        supplier: "Orchard & Sons, acct 5512",
      };
      this.#ledger.append(thread, {
        kind: "example.stock_changed",
        factOwnerRef: SHELF_OWNER,
        payload,
      });
    }
    const text = `There are ${left - taken} ${item} left.`;
    this.#complete(thread, runId, text, toolCallId, call, { left: left - taken });
  }

  #complete(
    thread: string,
    runId: number,
    text: string,
    toolCallId?: string,
    call?: ModelCall,
    result?: object,
  ): void {
    if (toolCallId !== undefined && call !== undefined) {
      const { name, args } = call;
      const facts = {
        runId,
        toolCallId,
        name,
        args,
        execution: { host: "shelf-1" },
        result,
        claim: {},
      };
      this.#record(thread, "tool.executed", facts);
      this.#respond(thread, { id: runId, index: 1 }, [{ type: "message", text }]);
    }
    const end = { runId, final: true, output: text, outputKind: "text", tokensUsed: 0 };
    this.#record(thread, "agent.run.completed", end);
  }

  #respond(thread: string, turn: { id: number; index: number }, items: object[]): void {
    const usage = { promptTokens: 12, completionTokens: 8, totalTokens: 20 };
    this.#record(thread, "llm.response", { turn, items, usage });
  }

  #record(thread: string, kind: string, payload: object): number {
    return this.#ledger.append(thread, { kind, factOwnerRef: RUNTIME_OWNER, payload });
  }

  /** The last event that opened or closed a run. */
  #lastStep(thread: string): LedgerEvent | undefined {
    return this.#ledger.read(thread).findLast(({ kind }) => /^agent\.(run|aborted)\./.test(kind));
  }

  #lastId(thread: string): number {
    return this.#ledger.read(thread).at(-1)?.id ?? 0;
  }
}

type Interrupted = {
  runId: number;
  turn: { id: number; index: number };
  interruptId: string;
  reason: string;
  resumeSchema: object;
  tokensUsed: number;
  decision: { gateRef: string; subjectRef: string; toolCallId: string; toolName: string };
};

function callItem(id: string, { name, args }: ModelCall): object {
  const call = { id, type: "function", function: { name, arguments: JSON.stringify(args) } };
  return { type: "tool_call", call };
}

function opensRun({ kind }: LedgerEvent): boolean {
  return kind === "agent.run.started" || kind === "agent.run.resumed";
}

/** The run that an event of the runtime belongs to. */
export function runOf({ id, kind, payload }: LedgerEvent): number | undefined {
  if (kind === "agent.run.started") return id;
  const { runId, turn } = payload as { runId?: number; turn?: { id: number } };
  return runId ?? turn?.id;
}
