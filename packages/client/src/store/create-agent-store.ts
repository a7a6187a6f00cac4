import { CountersignError, isCountersignError } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { Message, ResumeEntry, RunAgentInput } from "@countersign/wire";
import "../base/errors.js";
import { createPipeline } from "../stream/pipeline.js";
import { createReceiptTracker, NO_RECEIPTS } from "../view/receipts.js";
import type { AgentSnapshot, AgentStatus, Problem } from "../view/snapshot.js";
import { isBusy } from "../view/snapshot.js";
import { problemFromRunError } from "../view/run-error-problem.js";
import type { AgentStore, AgentStoreOptions } from "./agent-store.js";
import { assertCovers, assertNoneOpen, toolMessages } from "./answers.js";
import { DEFAULT_BACK_OFF } from "./back-off.js";
import { buildSnapshot } from "./build-snapshot.js";
import { SYSTEM_CLOCK } from "./clock.js";
import { createConversation } from "./conversation.js";
import { randomId } from "../base/ids.js";
import { createPublisher } from "./publisher.js";
import { driveRun } from "./run-driver.js";
import type { RunListener, RunRequest } from "./run-driver.js";
import { buildInput } from "./run-input.js";
import { onNextFrame } from "./schedule.js";

/**
 * Converts an error into the problem to display. A server's own refusal wins, on HTTP and on a
 * socket.
 */
export function problemOf(error: CountersignError): Problem {
  const { code, message } = error;
  if (!isCountersignError(error, "ERR_CLIENT_CONNECT")) return { code, message, source: "client" };
  const { status, refusal } = error.facts;
  return {
    ...(refusal === undefined
      ? { code, message, source: "client" }
      : { ...refusal, source: "agent" }),
    ...(status === undefined ? {} : { status }),
  };
}

const IDLE_MS = 300_000;
const STOP_GRACE_MS = 2000;
const LINGER_MS = 1000;
const NEVER = { attempts: 0 };

type Run = { readonly input: RunAgentInput; readonly controller: AbortController };

/**
 * Creates the store of one conversation.
 *
 * @throws TypeError when an option is not usable
 */
export function createAgentStore(options: AgentStoreOptions): AgentStore {
  const { transport, clock = SYSTEM_CLOCK, mintId = randomId, random = Math.random } = options;
  if (typeof transport?.open !== "function") throw new TypeError("a store needs a transport");
  const reconnect = options.reconnect === false ? NEVER : options.reconnect;
  const backOff = { ...DEFAULT_BACK_OFF, ...reconnect };
  const threadId = options.threadId ?? mintId("thread");
  const conversation = createConversation(options);
  let status: AgentStatus = "idle";
  let problem: Problem | undefined;
  /** Why the run failed, in the words of the other side. */
  let reportedProblem: Problem | undefined;
  let receipts = NO_RECEIPTS;
  let run: Run | undefined;
  let lastResume: readonly ResumeEntry[] | undefined;
  /** Open interrupts that the gateway reported, until a run ends without an error. */
  let unseen: readonly string[] = [];
  let closed = false;

  const publisher = createPublisher<AgentSnapshot>(
    (previous) => buildSnapshot({ status, problem, threadId, conversation, receipts }, previous),
    options.schedule ?? onNextFrame,
  );
  const first = publisher.getSnapshot();

  function setStatus(next: AgentStatus, why?: Problem): void {
    status = next;
    problem = why;
    if (next === "done" || next === "waiting") unseen = [];
    else unseen = why?.interrupts ?? unseen;
    publisher.publish();
  }

  function fail(failing: Run, error: CountersignError): void {
    failing.controller.abort();
    setStatus("failed", problemOf(error));
  }

  const receiptTracker =
    options.verifyReceipt === undefined
      ? undefined
      : createReceiptTracker(options.verifyReceipt, (counts, isFault) => {
          receipts = counts;
          publisher.touch();
          if (!isFault || options.onRefusedReceipt !== "fail" || run === undefined) return;
          const { refused, missing } = counts;
          const words = "what was shown is not signed for";
          fail(run, new CountersignError("ERR_CLIENT_RECEIPT", words, { refused, missing }));
        });

  /** Publishes the status that follows from the end of the run. */
  function setFinalStatus(): void {
    const { status: end, error } = conversation.view();
    if (end === "interrupted") setStatus("waiting");
    else if (end === "finished") setStatus("done");
    // An agent may confirm a stop with an error.
    else if (end === "cancelled" || status === "stopping") setStatus("stopped");
    else {
      const { code, message = "" } = error ?? {};
      setStatus(
        "failed",
        reportedProblem ?? { code: code ?? "RUN_ERROR", message, source: "agent" },
      );
    }
  }

  function assertIdle(): void {
    if (closed) throw new CountersignError("ERR_CLIENT_CLOSED", "the store is closed", {});
    if (isBusy(status)) {
      throw new CountersignError("ERR_CLIENT_RUN_ACTIVE", "a run is still going", {});
    }
  }

  function listenerOf({ input, controller }: Run, over: () => void): RunListener {
    return {
      status: (next) => {
        if (status !== "stopping") setStatus(next);
      },
      events: (events) => {
        if (controller.signal.aborted) return;
        for (const event of events) {
          conversation.push(event);
          receiptTracker?.push(event, input);
          if (controller.signal.aborted) return;
          options.onEvent?.(event);
          if (event.type === "RUN_ERROR") reportedProblem = problemFromRunError(event);
          // After the end only an error can come, and it revokes the success.
          if (event.type === "RUN_ERROR" && !isBusy(status)) setFinalStatus();
        }
        publisher.touch();
      },
      restart: () => {
        conversation.rewind();
        receiptTracker?.begin();
      },
      over: () => {
        if (controller.signal.aborted) return;
        setFinalStatus();
        // A shared connection is free only when the driver has released it.
        if (!transport.shared) over();
      },
    };
  }

  /** Resolves when the run is over, aborted or failed; rejects on a bug of this package. */
  function drive(current: Run, body: JsonObject): Promise<void> {
    const { input, controller } = current;
    const { signal } = controller;
    const request: RunRequest = {
      transport,
      input,
      body,
      createPipeline: () => createPipeline(input, options, mintId, options.onNotes),
      backOff,
      clock,
      random,
      idleMs: options.idleMs ?? IDLE_MS,
      lingerMs: LINGER_MS,
      signal,
    };
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
      driveRun(request, listenerOf(current, resolve)).then(resolve, (error: unknown) => {
        if (run !== current || signal.aborted) return resolve();
        if (isCountersignError(error)) {
          fail(current, error);
          return resolve();
        }
        setStatus("failed", { code: "INTERNAL", message: "unexpected error", source: "client" });
        return reject(error as Error);
      });
    });
  }

  async function start(
    added: readonly Message[],
    resume?: readonly ResumeEntry[],
  ): Promise<AgentSnapshot> {
    const ids = { threadId, runId: mintId("run") };
    const input = buildInput(ids, conversation.view(), added, resume, options);
    const body = options.dialect?.body(input) ?? (input as unknown as JsonObject);
    // Late events of the previous run must not reach this one.
    run?.controller.abort();
    conversation.begin(added);
    receiptTracker?.begin();
    reportedProblem = undefined;
    lastResume = resume;
    run = { input, controller: new AbortController() };
    setStatus("connecting");
    await drive(run, body);
    return publisher.getSnapshot();
  }

  return {
    getSnapshot: publisher.getSnapshot,
    getServerSnapshot: () => first,
    subscribe: publisher.subscribe,
    async send(content) {
      assertIdle();
      assertNoneOpen(conversation.view().pendingInterrupts);
      const id = mintId("message");
      return start(content === undefined ? [] : [{ id, role: "user", content }]);
    },
    async resume(answers) {
      assertIdle();
      assertCovers(conversation.view().pendingInterrupts, answers, clock.now(), unseen);
      return start([], answers);
    },
    async answer(answers) {
      assertIdle();
      return start(toolMessages(conversation.view(), answers, mintId));
    },
    async retry() {
      assertIdle();
      return start([], lastResume);
    },
    stop() {
      if (run === undefined || !isBusy(status) || status === "stopping") return;
      const { controller, input } = run;
      const hangUp = (): void => {
        if (controller.signal.aborted || status !== "stopping") return;
        controller.abort();
        setStatus("stopped");
      };
      const before = status;
      setStatus("stopping");
      // An agent that has not answered yet learns it from the connection.
      if (transport.stop === undefined || before === "connecting") return hangUp();
      Promise.resolve(transport.stop(input)).catch(hangUp);
      if (before === "reconnecting") return hangUp();
      clock.after(options.stopGraceMs ?? STOP_GRACE_MS, hangUp);
    },
    close() {
      closed = true;
      run?.controller.abort();
      publisher.close();
      transport.close?.();
      if (isBusy(status)) setStatus("stopped");
    },
  };
}
