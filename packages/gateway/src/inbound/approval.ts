import type { JsonObject } from "@countersign/core";
import { looksLike } from "@countersign/policy";
import type { CompiledPolicy, Denial } from "@countersign/policy";
import type { DecisionResult, DecisionRequest } from "../event/judge.js";
import { ownDenial } from "../outbound/decide/structure.js";
import { digestOfValue, meaningOf } from "../thread/digest.js";
import type { AskedCall, ThreadState } from "../thread/thread-state.js";
import { permitNoting, rulesNotedBy } from "./finding.js";
import { isSameCall } from "./resume.js";
import type { Approval } from "./resume.js";

/** The rule that blocks a call other than the one the person was shown. */
export const APPROVAL_RULE = "gateway/approval";

type Judge = (question: DecisionRequest) => DecisionResult;

/**
 * Binds the calls of a run to the answers that a person gave: of a tool that the run was resumed about, the
 * agent may make the call they were shown, once for each approval, and no other; what they declined, now or
 * earlier on the thread, it may not make again. Calls of these tools are held until they are whole, since
 * what is compared are the arguments.
 */
export function bindApprovals(
  policy: CompiledPolicy,
  judge: Judge,
  approvals: readonly Approval[],
  state: ThreadState,
): { policy: CompiledPolicy; judge: Judge } {
  const mode = policy.request.mode("approval");
  if (mode === "off" || approvals.length + state.declined.length === 0) return { policy, judge };
  const answers = new Answers(approvals, state);
  return {
    policy: {
      ...policy,
      needsArguments: (name) => answers.isAbout(name) || policy.needsArguments(name),
    },
    judge: (question) => {
      const judgement = judge(question);
      if (!judgement.decision.allow) return judgement;
      const reason = answers.against(question);
      if (reason === undefined) return judgement;
      const denial: Denial = ownDenial(APPROVAL_RULE, reason, policy.onBlock);
      return mode === "observe"
        ? { ...judgement, decision: permitNoting(denial, rulesNotedBy(judgement.decision)) }
        : { ...judgement, decision: denial };
    },
  };
}

/** What a person said about calls, and what of it is used up. */
class Answers {
  readonly #answers: readonly Approval[];
  /** Tools of which this run may make nothing but what was approved. */
  readonly #asked: ReadonlySet<string>;
  readonly #names: ReadonlySet<string>;
  /** Calls that were delivered before, with their arguments where they were whole. */
  readonly #earlier: ReadonlyMap<string, string | undefined>;
  /** Approvals that are used up, and by which call. */
  readonly #used = new Map<Approval, string | undefined>();

  constructor(approvals: readonly Approval[], { calls, declined }: ThreadState) {
    this.#answers = [...approvals, ...declined.map((call) => ({ call, isGranted: false }))];
    this.#asked = namesOf(approvals);
    this.#names = namesOf(this.#answers);
    this.#earlier = new Map([...calls].map(([id, call]) => [id, call.arguments]));
  }

  isAbout(name: string): boolean {
    return this.#toolLike(name) !== undefined;
  }

  /** The tool that the person was asked about and that a name is, or looks like. */
  #toolLike(name: string): string | undefined {
    if (this.#names.has(name)) return name;
    for (const asked of this.#names) if (looksLike(name, asked)) return asked;
    return undefined;
  }

  /** Why a call may not be made; nothing when it may, which uses an approval up. */
  against({ facts, event, listedArguments }: DecisionRequest): string | undefined {
    const { source } = facts;
    if (source !== "TOOL_CALL_START" && source !== "TOOL_CALL_END") return undefined;
    const [call] = facts.toolCalls ?? [];
    if (call === undefined) return undefined;
    const { toolCallId: id } = (event ?? {}) as JsonObject & { toolCallId?: string };
    if (id !== undefined && this.#matches({ id }).some(({ isGranted }) => !isGranted)) {
      return "the person declined this call";
    }
    const asked = this.#toolLike(call.name);
    if (asked === undefined) return undefined;
    if (call.state === "partial" && source === "TOOL_CALL_START") return undefined;
    const digest = call.state === "whole" ? digestOfValue(call.arguments ?? {}) : undefined;
    // A message list repeats what was delivered before the person answered; a stream would open it again.
    // What was never whole, or is no JSON to us, is told by its text: a client may read other arguments in it.
    if (id !== undefined && listedArguments !== undefined && this.#earlier.has(id)) {
      if (this.#earlier.get(id) === meaningOf(listedArguments)) return undefined;
    }
    if (asked !== call.name)
      return "the tool is named like another that the person was asked about";
    // The gateway knows a call that was approved before it was streamed by its id and its tool alone.
    const byId = id === undefined ? [] : this.#matches({ id });
    if (byId.some(({ tool, isGranted }) => isGranted && tool === call.name)) return undefined;
    if (digest === undefined) return "the arguments cannot be compared with what the person saw";
    const matches = this.#matches({ name: call.name, arguments: digest });
    // A message list repeats a call that used its approval; in a stream it would be another one.
    if (source === "TOOL_CALL_START" && matches.some((answer) => this.#isUsedBy(answer, id))) {
      return undefined;
    }
    const free = matches.find((answer) => answer.isGranted && !this.#used.has(answer));
    if (free !== undefined) {
      this.#used.set(free, id);
      return undefined;
    }
    if (matches.some(({ isGranted }) => !isGranted) || this.#isDeclinedAsRead(call.name, digest)) {
      return "the person declined this call";
    }
    if (matches.length > 0) return "the person approved this call once";
    return this.#asked.has(call.name)
      ? "the call differs from the one the person was shown"
      : undefined;
  }

  /** Whether the person declined arguments that a client reads like these, although the gateway could not read them. */
  #isDeclinedAsRead(name: string, digest: string): boolean {
    return this.#answers.some(
      ({ call, isGranted }) =>
        !isGranted && "name" in call && call.name === name && call.lenient === digest,
    );
  }

  #matches(call: AskedCall): Approval[] {
    return this.#answers.filter((answer) => isSameCall(answer.call, call));
  }

  #isUsedBy(answer: Approval, id: string | undefined): boolean {
    return id !== undefined && this.#used.get(answer) === id;
  }
}

function namesOf(answers: readonly Approval[]): Set<string> {
  return new Set(answers.flatMap(({ call, tool }) => ("name" in call ? call.name : (tool ?? []))));
}
