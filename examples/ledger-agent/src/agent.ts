import type { JsonObject } from "@countersign/core";
import { createLedgerProjection } from "@countersign/projection";
import type { Diagnostic, ProjectionSpec } from "@countersign/projection";
import { decodeRunInput, lowerRunBody } from "@countersign/projection/input";
import type { LoweringIssue } from "@countersign/projection/input";
import { followLedger, streamProjection } from "@countersign/projection/stream";
import type { Streamed } from "@countersign/projection/stream";
import { declareTools } from "@countersign/projection/tools";
import type { Ledger } from "./ledger.js";
import { runOf, Runtime } from "./runtime.js";
import { shelfProjector } from "./shelf.js";
import { agentSchema } from "./tools.js";

/** An answer to a request: a stream of frames, or why there is none. */
export type Answer =
  | { readonly status: 200; readonly frames: AsyncGenerator<Streamed, void, undefined> }
  | { readonly status: 204 }
  | {
      readonly status: 400 | 409 | 422;
      readonly issues: readonly LoweringIssue[];
      readonly error: string;
    };

const { tools } = declareTools(agentSchema);

/** The agent over its ledger: submissions go in, projections come out. */
export class LedgerAgent {
  readonly #ledger: Ledger;
  readonly #runtime: Runtime;
  readonly #onDiagnostic: (diagnostic: Diagnostic) => void;

  constructor(ledger: Ledger, onDiagnostic: (diagnostic: Diagnostic) => void = () => undefined) {
    this.#ledger = ledger;
    this.#runtime = new Runtime(ledger);
    this.#runtime.recover();
    this.#onDiagnostic = onDiagnostic;
  }

  /** The agent's capabilities. */
  capabilities(): JsonObject {
    return {
      identity: { name: "ledger-agent", description: "Keeps a shelf." },
      transport: { streaming: true, resumable: true },
      tools: { supported: true, items: tools as unknown as JsonObject[] },
      humanInTheLoop: { supported: true, approvals: true, interrupts: true },
    };
  }

  /** Starts the run that a body asks for, and shows it. */
  submit(body: Uint8Array, signal: AbortSignal): Answer {
    const thread = threadOf(body);
    if (thread !== undefined && this.#runtime.isBusy(thread)) {
      return { status: 409, error: "a run of this thread is still going", issues: [] };
    }
    const bindings = thread === undefined ? [] : this.#runtime.openInterrupts(thread);
    const { submit, issues } = lowerRunBody(body, { bindings, context: true });
    if (submit === undefined || thread === undefined) {
      const isMalformed = issues.some(({ code }) => code.startsWith("malformed"));
      return { status: isMalformed ? 400 : 422, error: "the input was refused", issues };
    }
    const input = decodeRunInput(body);
    const before = this.#ledger.read(thread);
    const { runId, openedBy } = this.#runtime.open(thread, submit, input.runId);
    // The client saw these when the run was interrupted; its calls are answered now.
    const seen = before.filter((event) => runOf(event) === runId);
    void this.#runtime.run(thread, runId, submit);
    const rows = followLedger(this.#ledger.port(thread), { afterId: openedBy - 1, signal });
    return { status: 200, frames: this.#stream(rows, thread, { seen }, { ledgerRunId: runId }) };
  }

  /**
   * Resumes from a cursor: earlier events are restated, later ones are streamed. Without new events and an
   * active run the response is 204, which stops an EventSource.
   */
  resume(thread: string, afterId: number, signal: AbortSignal): Answer {
    const events = this.#ledger.read(thread);
    const history = events.filter(({ id }) => id <= afterId);
    if (history.length === events.length && !this.#runtime.isBusy(thread)) return { status: 204 };
    const rows = followLedger(this.#ledger.port(thread), { afterId, signal });
    // A snapshot replaces what a client holds, so it must have what the person said as well.
    const messages = this.#runtime.saidBy(thread, afterId);
    const before = history.length === 0 ? {} : { history };
    return { status: 200, frames: this.#stream(rows, thread, before, { messages }) };
  }

  #stream(
    rows: AsyncIterable<unknown>,
    thread: string,
    before: { seen?: readonly unknown[]; history?: readonly unknown[] },
    more: Partial<ProjectionSpec> = {},
  ): AsyncGenerator<Streamed, void, undefined> {
    const projection = createLedgerProjection({
      threadId: thread,
      owners: [shelfProjector],
      runIdFor: ({ eventId }) => this.#runtime.clientRunIds(thread).get(eventId),
      disclosure: {
        declarations: tools,
        resumeSchema: "structure",
        tools: {
          count_stock: { arguments: "reveal", result: "reveal" },
          sell: { arguments: "reveal", result: { fields: { "/left": "reveal" } } },
        },
      },
      ...more,
    });
    return streamProjection(rows, projection, {
      ...before,
      until: "run",
      onDiagnostic: this.#onDiagnostic,
    });
  }
}

/** The thread of a body that is an input at all; what is wrong with others, lowering says. */
function threadOf(body: Uint8Array): string | undefined {
  try {
    return decodeRunInput(body).threadId;
  } catch {
    return undefined;
  }
}
