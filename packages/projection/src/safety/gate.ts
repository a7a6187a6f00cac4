import type { AgUiEvent } from "@countersign/wire";
import { SafetyRules } from "./rules.js";
import type { SafetyIssue, SafetySpec } from "./rules.js";
import { scanText } from "./scan.js";
import { scanFrame } from "./verify.js";

/** The frames to forward, and the issues found. */
export type GateResult = {
  readonly frames: AgUiEvent[];
  readonly issues: SafetyIssue[];
};

/** A check for a stream of frames. */
export type FrameGate = {
  /** Whether an issue was found; no frame passes any more. */
  readonly isClosed: boolean;
  push(frame: AgUiEvent): GateResult;
  /** The end of the stream; returns held text that is clean. */
  end(): GateResult;
};

type DeltaFrame = Extract<AgUiEvent, { delta: string }>;
type Held = {
  /** The last frame of the text; held text gets its type and id. */
  frame: DeltaFrame;
  /** Forwarded text that may be the start of a match. */
  context: string;
  /** Text that is not forwarded yet. */
  waiting: string;
};

/**
 * The maximum growth of a text in one encoding (`\\uXXXX` is the widest). A nested encoding may be
 * longer; split into deltas, it is then not always found before its first part has left.
 */
const WIDEST = 6;

/**
 * The search of `verifyAgUiFrameSafety` as a fail-closed gate: on the first issue it forwards
 * nothing more and ends the run with RUN_ERROR. It holds back as much text of each message and call
 * as a match could need, so that a secret split into deltas is found before its first character
 * leaves.
 */
export function createFrameGate(spec: SafetySpec): FrameGate {
  return new Gate(new SafetyRules(spec));
}

class Gate implements FrameGate {
  isClosed = false;
  readonly #rules: SafetyRules;
  readonly #window: number;
  readonly #held = new Map<string, Held>();
  #index = -1;
  #isRunOpen = false;

  constructor(rules: SafetyRules) {
    this.#rules = rules;
    const longest = Math.max(1, ...rules.literals.map((literal) => literal.length));
    const forPatterns = rules.patterns.length > 0 ? rules.maxMatchLength : 1;
    this.#window = Math.max(longest, forPatterns) * WIDEST;
  }

  push(frame: AgUiEvent): GateResult {
    this.#index++;
    if (this.isClosed) return { frames: [], issues: [] };
    const issues = scanFrame(frame, this.#index, this.#rules);
    if (issues.length > 0) return this.#close(issues);
    const id = idOf(frame);
    const frames =
      id === undefined || !isDelta(frame) ? this.#pass(frame, id) : this.#delta(id, frame);
    if (this.isClosed) return frames;
    if (frame.type === "RUN_STARTED") this.#isRunOpen = true;
    else if (frame.type === "RUN_FINISHED" || frame.type === "RUN_ERROR") this.#isRunOpen = false;
    return frames;
  }

  end(): GateResult {
    if (this.isClosed) return { frames: [], issues: [] };
    const frames = [...this.#held.keys()].flatMap((id) => this.#release(id));
    return { frames, issues: [] };
  }

  /**
   * Another frame of the same text follows its held text; the end of a run follows all held text.
   */
  #pass(frame: AgUiEvent, id: string | undefined): GateResult {
    const isRunEnd = frame.type === "RUN_FINISHED" || frame.type === "RUN_ERROR";
    const before = isRunEnd
      ? [...this.#held.keys()].flatMap((held) => this.#release(held))
      : id === undefined
        ? []
        : this.#release(id);
    return { frames: [...before, frame], issues: [] };
  }

  #delta(id: string, frame: DeltaFrame): GateResult {
    const held = this.#held.get(id) ?? { frame, context: "", waiting: "" };
    this.#held.set(id, held);
    held.frame = frame;
    held.waiting += frame.delta;
    const text = held.context + held.waiting;
    const findings = scanText(text, this.#rules);
    if (findings.length > 0) {
      const place = { frameIndex: this.#index, path: "$.delta", isSplit: true };
      return this.#close(findings.map((finding) => ({ ...finding, ...place })));
    }
    const free = held.waiting.length - (this.#window - 1);
    if (free <= 0) return { frames: [], issues: [] };
    const cut = isHighSurrogate(held.waiting, free - 1) ? free - 1 : free;
    const delta = held.waiting.slice(0, cut);
    held.context = (held.context + delta).slice(-this.#window);
    held.waiting = held.waiting.slice(cut);
    return { frames: delta === "" ? [] : [{ ...frame, delta }], issues: [] };
  }

  #release(id: string): AgUiEvent[] {
    const held = this.#held.get(id);
    this.#held.delete(id);
    return held === undefined || held.waiting === ""
      ? []
      : [{ ...held.frame, delta: held.waiting }];
  }

  #close(issues: SafetyIssue[]): GateResult {
    this.isClosed = true;
    this.#held.clear();
    const message = "The stream was stopped because it contained content that must not be shown.";
    const error: AgUiEvent = { type: "RUN_ERROR", message, code: "countersign.frame_withheld" };
    return { frames: this.#isRunOpen ? [error] : [], issues };
  }
}

function isDelta(frame: AgUiEvent): frame is DeltaFrame {
  return "delta" in frame && typeof frame.delta === "string";
}

/** The id of the text that a frame opens, continues or closes. */
function idOf(frame: AgUiEvent): string | undefined {
  if (frame.type.startsWith("TEXT_MESSAGE_")) return `text ${memberOf(frame, "messageId")}`;
  if (frame.type.startsWith("REASONING_MESSAGE_"))
    return `reasoning ${memberOf(frame, "messageId")}`;
  if (frame.type.startsWith("TOOL_CALL_")) return `call ${memberOf(frame, "toolCallId")}`;
  return undefined;
}

function memberOf(frame: AgUiEvent, name: string): string {
  const value = (frame as unknown as Record<string, unknown>)[name];
  return typeof value === "string" ? value : "";
}

function isHighSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit < 0xdc00;
}
