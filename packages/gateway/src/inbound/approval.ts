import { createLookAlikes } from "@countersign/policy";
import type { CompiledPolicy, LookAlikes } from "@countersign/policy";
import type { Interrupt } from "@countersign/wire";
import type { DecisionRequest } from "../event/judge.js";
import type { CallApprovals } from "../event/run.js";
import { digestOfValue, meaningOf } from "../thread/digest.js";
import { asksTheSame, MAX_NAMED_TOOLS } from "../thread/thread-state.js";
import type { AskedCall, CallState, InterruptState, ThreadState } from "../thread/thread-state.js";
import type { Approval } from "./interrupt-answers.js";

/**
 * The person's answers that bind the calls of a run; `undefined` if there are none.
 *
 * For a tool that the run was resumed about, the agent may carry out the call that the person was shown, once for each approval: it sends the
 * result of that call, or makes one new call. The agent may not repeat a call that the person declined, in this run or earlier on the thread.
 * Calls of these tools are held until their arguments are complete, because the gateway compares the arguments.
 */
export function approvalsOf(
  { request }: CompiledPolicy,
  approvals: readonly Approval[],
  state: ThreadState,
): CallApprovals | undefined {
  if (request.mode("approval") === "off") return undefined;
  if (approvals.length + state.declined.length === 0) return undefined;
  return new Answers(approvals, state);
}

type UsedApprovals = Map<Approval, string | undefined>;

/** Why a call may not be made. `mayAsk`: the run may ask the person about it, because the gateway can compare it with the answers. */
type Refusal = { readonly reason: string; readonly mayAsk: boolean };

const DECLINED: Refusal = { reason: "the person declined this call", mayAsk: true };
const UNANSWERED: Refusal = { reason: "the person has not answered about this call", mayAsk: true };
const USED: Refusal = { reason: "the person approved this call once", mayAsk: true };
const DIFFERS: Refusal = {
  reason: "the call differs from the one the person was shown",
  mayAsk: true,
};
const NAMED_ALIKE: Refusal = {
  reason: "the tool is named like another that the person was asked about",
  mayAsk: false,
};
const INCOMPARABLE: Refusal = {
  reason: "the arguments cannot be compared with what the person saw",
  mayAsk: false,
};

type CallIds = { readonly toolCallId?: string; readonly parentToolCallId?: string };

function callIdOf({ event }: DecisionRequest): string | undefined {
  return (event as CallIds | undefined)?.toolCallId;
}

/** The call that an event carries out: its result, or a subagent that works for it. */
function carriedOutBy({ facts, event }: DecisionRequest): string | undefined {
  const { toolCallId, parentToolCallId } = (event as CallIds | undefined) ?? {};
  if (facts.source === "TOOL_CALL_RESULT") return toolCallId;
  return facts.source === "SUBAGENT_STARTED" ? parentToolCallId : undefined;
}

/** The person's answers about calls, and the approvals that calls have used. */
class Answers implements CallApprovals {
  /** The answers about each call, by {@link keysOf}. */
  readonly #byCall = new Map<string, Approval[]>();
  /** Tools for which this run may make only approved calls. */
  readonly #asked: ReadonlySet<string>;
  readonly #names: LookAlikes;
  /** A question named more tools than the gateway keeps. */
  readonly #isAboutAll: boolean;
  /** Calls that were delivered before, with their arguments if those were complete. */
  readonly #earlier: ReadonlyMap<string, Pick<CallState, "name" | "arguments">>;
  /** Calls of this run that were compared with the answers. */
  readonly #compared = new Map<string, { readonly name: string; readonly arguments: string }>();
  /** Used approvals, with the id of the call that used each. */
  readonly #used: UsedApprovals = new Map();
  /** The same for the calls that arrived: the decisions about them may still wait. */
  readonly #foreseen: UsedApprovals = new Map();
  readonly #foreseenCalls = new Set<string>();
  /** The answers about calls that the client has, by the id of the call. */
  readonly #byId = new Map<string, Approval[]>();
  /** Questions that the person has not answered, and their calls. */
  readonly #open = new Map<string, InterruptState>();
  readonly #unanswered: ReadonlySet<string | undefined>;
  /** Calls that the run ended by asking about. */
  readonly #questions = new Set<string>();

  constructor(approvals: readonly Approval[], { calls, declined }: ThreadState) {
    const answers = [...approvals, ...declined.map((call) => ({ call, isGranted: false }))];
    for (const answer of approvals) {
      const { usedBy, toolCallId, open } = answer;
      if (open !== undefined) this.#open.set(open.id, open.interrupt);
      if (toolCallId !== undefined) append(this.#byId, toolCallId, answer);
      if (usedBy === undefined) continue;
      this.#used.set(answer, usedBy);
      this.#foreseen.set(answer, usedBy);
    }
    for (const answer of answers) {
      for (const key of keysOf(answer.call)) append(this.#byCall, key, answer);
    }
    this.#asked = namesOf(approvals);
    this.#names = createLookAlikes(namesOf(answers));
    this.#unanswered = new Set([...this.#open.values()].map(({ toolCallId }) => toolCallId));
    this.#isAboutAll = approvals.some(({ tools = [] }) => tools.length > MAX_NAMED_TOOLS);
    this.#earlier = new Map(calls);
  }

  isAbout(name: string, id?: string): boolean {
    return (
      this.#toolLike(name) !== undefined || (id !== undefined && this.#matches({ id }).length > 0)
    );
  }

  /** The tool in the person's answers that has this name or one that looks like it. */
  #toolLike(name: string): string | undefined {
    return this.#isAboutAll ? name : this.#names.find(name);
  }

  refusalReason(request: DecisionRequest): string | undefined {
    return this.#refusalOf(request)?.reason;
  }

  unansweredReason(request: DecisionRequest): string | undefined {
    const id = carriedOutBy(request);
    if (id !== undefined) return this.#isUnanswered(id) ? UNANSWERED.reason : undefined;
    // While a question is open there is no approval that this could use.
    if (this.#open.size === 0 || this.#refusalOf(request) !== UNANSWERED) return undefined;
    return UNANSWERED.reason;
  }

  isOtherQuestion(interrupt: Interrupt): boolean {
    const open = this.#open.get(interrupt.id);
    if (open === undefined) return false;
    const calls = { get: (id: string) => this.#compared.get(id) ?? this.#earlier.get(id) };
    return !asksTheSame(open, interrupt, calls);
  }

  #isUnanswered(id: string): boolean {
    return this.#questions.has(id) || this.#unanswered.has(id);
  }

  #refusalOf(request: DecisionRequest): Refusal | undefined {
    const carriedOut = carriedOutBy(request);
    if (carriedOut !== undefined) {
      return this.#carryOut(carriedOut, this.#used, request.facts.source === "SUBAGENT_STARTED");
    }
    const id = callIdOf(request);
    const refusal = this.#refusal(request, this.#used);
    const isQuestion = id !== undefined && this.#questions.has(id);
    return isQuestion && refusal?.mayAsk === true ? undefined : refusal;
  }

  /**
   * Why a call that the client has may not be carried out. A call that the person approved uses the approval, unless a new call did. The
   * result of a declined call says that it was declined; a subagent would carry it out.
   */
  #carryOut(id: string, used: UsedApprovals, isStart: boolean): Refusal | undefined {
    const own = this.#byId.get(id) ?? [];
    if (!isStart && !own.some(({ isGranted }) => isGranted)) return undefined;
    const call = this.#earlier.get(id);
    const equal = [...own, ...(isStart ? this.#matches({ id }) : [])];
    if (call?.arguments !== undefined) {
      equal.push(...this.#matches({ name: call.name, arguments: call.arguments }));
    }
    const granted = equal.filter((answer) => answer.isGranted);
    if (granted.length === 0) return equal.length > 0 ? refusalBy(equal) : undefined;
    if (granted.some((answer) => used.get(answer) === id)) return undefined;
    const free = granted.find((answer) => !used.has(answer));
    if (free === undefined) return USED;
    used.set(free, id);
    return undefined;
  }

  mayAsk(request: DecisionRequest): boolean {
    const id = callIdOf(request);
    // The client has the call: a list may repeat it, and a stream that opens it again is blocked in any case.
    if (id === undefined || (this.#earlier.has(id) && request.listedArguments === undefined)) {
      return false;
    }
    if (this.#foreseenCalls.has(id)) return false;
    const before = this.#foreseen.size;
    const refusal = this.#refusal(request, this.#foreseen);
    if (this.#foreseen.size > before) this.#foreseenCalls.add(id);
    return refusal?.mayAsk === true;
  }

  arrives(toolCallId: string): void {
    this.#carryOut(toolCallId, this.#foreseen, false);
  }

  asks(toolCallId: string): void {
    this.#questions.add(toolCallId);
  }

  /** Why the answers do not cover a call. A covered call uses an approval. */
  #refusal(request: DecisionRequest, used: UsedApprovals): Refusal | undefined {
    const { facts, listedArguments } = request;
    const { source } = facts;
    if (source !== "TOOL_CALL_START" && source !== "TOOL_CALL_END") return undefined;
    const [call] = facts.toolCalls ?? [];
    if (call === undefined) return undefined;
    const id = callIdOf(request);
    const refused = id === undefined ? [] : this.#matches({ id }).filter(isRefusal);
    if (refused.length > 0) return refusalBy(refused);
    const asked = this.#toolLike(call.name);
    if (asked === undefined) return undefined;
    if (call.state === "partial" && source === "TOOL_CALL_START") return undefined;
    const digest = call.state === "whole" ? digestOfValue(call.arguments ?? {}) : undefined;
    // A list repeats a call that was delivered before the person answered; a stream would open it again. Incomplete
    // arguments are compared as text.
    if (id !== undefined && listedArguments !== undefined && this.#earlier.has(id)) {
      if (this.#earlier.get(id)?.arguments === meaningOf(listedArguments)) return undefined;
    }
    if (asked !== call.name) return NAMED_ALIKE;
    // The gateway knows a call that was approved before it was streamed by its id and its tool alone.
    const byId = id === undefined ? [] : this.#matches({ id });
    if (byId.some(({ tools, isGranted }) => isGranted && isOnly(tools, call.name))) {
      return undefined;
    }
    if (digest === undefined) return INCOMPARABLE;
    if (id !== undefined) this.#compared.set(id, { name: call.name, arguments: digest });
    const matches = this.#matches({ name: call.name, arguments: digest });
    // A message list repeats a call that used its approval; in a stream the same call would be a new one.
    if (source === "TOOL_CALL_START" && id !== undefined) {
      if (matches.some((answer) => used.get(answer) === id)) return undefined;
    }
    const free = matches.find((answer) => answer.isGranted && !used.has(answer));
    if (free !== undefined) {
      used.set(free, id);
      return undefined;
    }
    const refusing = [...matches, ...this.#asRead(call.name, digest)].filter(isRefusal);
    if (refusing.length > 0) return refusalBy(refusing);
    if (matches.length > 0) return USED;
    return this.#isAboutAll || this.#asked.has(call.name) ? DIFFERS : undefined;
  }

  /** The answers about arguments that the gateway could not parse and that a client parses as these. */
  #asRead(name: string, digest: string): readonly Approval[] {
    return this.#byCall.get(keyOf("lenient", name, digest)) ?? [];
  }

  #matches(call: AskedCall): readonly Approval[] {
    const [key] = keysOf(call);
    return (key === undefined ? undefined : this.#byCall.get(key)) ?? [];
  }
}

function append(table: Map<string, Approval[]>, key: string, answer: Approval): void {
  const same = table.get(key);
  if (same === undefined) table.set(key, [answer]);
  else same.push(answer);
}

/** The keys of a call: its id, or its name with its arguments, and with the arguments that a client may read. */
function keysOf(call: AskedCall | undefined): string[] {
  if (call === undefined) return [];
  if ("id" in call) return [keyOf("id", call.id)];
  const { name, arguments: digest, lenient } = call;
  const strict = keyOf("call", name, digest);
  return lenient === undefined ? [strict] : [strict, keyOf("lenient", name, lenient)];
}

function keyOf(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}

function isRefusal({ isGranted }: Approval): boolean {
  return !isGranted;
}

/** The reason of answers that refuse a call; a question that is open refuses it until the person answers. */
function refusalBy(answers: readonly Approval[]): Refusal {
  return answers.every(({ open }) => open !== undefined) ? UNANSWERED : DECLINED;
}

function namesOf(answers: readonly Approval[]): Set<string> {
  return new Set(answers.flatMap(({ call, tools = [] }) => [nameOf(call) ?? [], tools].flat()));
}

function nameOf(call: AskedCall | undefined): string | undefined {
  return call !== undefined && "name" in call ? call.name : undefined;
}

function isOnly(tools: readonly string[] | undefined, name: string): boolean {
  return tools?.length === 1 && tools[0] === name;
}
