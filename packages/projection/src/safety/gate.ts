import type { AgUiEvent } from "@countersign/wire";
import { SafetyRules } from "./rules.js";
import type { SafetyIssue, SafetySpec } from "./rules.js";
import { scanText } from "./scan.js";
import { scanFrame } from "./verify.js";

/** What may go on, and what was found. */
export type GatePassage = {
  readonly frames: AgUiEvent[];
  readonly issues: SafetyIssue[];
};

/** A check that frames go through one by one. */
export type FrameGate = {
  /** Whether something was found; nothing passes any more. */
  readonly isShut: boolean;
  push(frame: AgUiEvent): GatePassage;
  /** The end of the stream; what was held back and is clean comes out. */
  end(): GatePassage;
};

type DeltaFrame = Extract<AgUiEvent, { delta: string }>;
type Held = {
  /** The last frame of the text, which gives the held text its type and id. */
  frame: DeltaFrame;
  /** Text that was let through and may be the beginning of a match. */
  context: string;
  /** Text that was not let through yet. */
  waiting: string;
};

/**
 * A forbidden text of n characters takes at most n times so many in one encoding (`\\uXXXX` is the widest).
 * In an encoding of an encoding it may take more; cut into deltas, it is then found only in part of the
 * cases before its beginning has left.
 */
const WIDEST = 6;

/**
 * The search of `verifyAgUiFrameSafety` as a gate that fails closed: on the first finding it lets nothing
 * more through and ends the run with RUN_ERROR. Of each message and call, as much text is held back as a
 * match could need, so that a secret cut into deltas is found before its first character has left.
 */
export function createFrameGate(spec: SafetySpec): FrameGate {
  return new Gate(new SafetyRules(spec));
}

class Gate implements FrameGate {
  isShut = false;
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

  push(frame: AgUiEvent): GatePassage {
    this.#index++;
    if (this.isShut) return { frames: [], issues: [] };
    const issues = scanFrame(frame, this.#index, this.#rules);
    if (issues.length > 0) return this.#shut(issues);
    const id = idOf(frame);
    const frames =
      id === undefined || !isDelta(frame) ? this.#pass(frame, id) : this.#delta(id, frame);
    if (this.isShut) return frames;
    if (frame.type === "RUN_STARTED") this.#isRunOpen = true;
    else if (frame.type === "RUN_FINISHED" || frame.type === "RUN_ERROR") this.#isRunOpen = false;
    return frames;
  }

  end(): GatePassage {
    if (this.isShut) return { frames: [], issues: [] };
    const frames = [...this.#held.keys()].flatMap((id) => this.#release(id));
    return { frames, issues: [] };
  }

  /** Another frame of the same text comes after what waits of it; the end of a run after everything. */
  #pass(frame: AgUiEvent, id: string | undefined): GatePassage {
    const isRunEnd = frame.type === "RUN_FINISHED" || frame.type === "RUN_ERROR";
    const before = isRunEnd
      ? [...this.#held.keys()].flatMap((held) => this.#release(held))
      : id === undefined
        ? []
        : this.#release(id);
    return { frames: [...before, frame], issues: [] };
  }

  #delta(id: string, frame: DeltaFrame): GatePassage {
    const held = this.#held.get(id) ?? { frame, context: "", waiting: "" };
    this.#held.set(id, held);
    held.frame = frame;
    held.waiting += frame.delta;
    const text = held.context + held.waiting;
    const findings = scanText(text, this.#rules);
    if (findings.length > 0) {
      const place = { frameIndex: this.#index, path: "$.delta", isSplit: true };
      return this.#shut(findings.map((finding) => ({ ...finding, ...place })));
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

  #shut(issues: SafetyIssue[]): GatePassage {
    this.isShut = true;
    this.#held.clear();
    const message = "The stream was stopped because it held content that must not be shown.";
    const error: AgUiEvent = { type: "RUN_ERROR", message, code: "countersign.frame_withheld" };
    return { frames: this.#isRunOpen ? [error] : [], issues };
  }
}

function isDelta(frame: AgUiEvent): frame is DeltaFrame {
  return "delta" in frame && typeof frame.delta === "string";
}

/** The text that a frame opens, continues or closes. */
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
