import { isCountersignError } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { createChunkExpander } from "../../chunks/index.js";
import { createDowngrader, createUpgrader } from "../../dialects/index.js";
import type { DowngradeTarget, UpgradeOptions } from "../../dialects/index.js";
import { enforceEvent } from "../../enforce/index.js";
import type { AgUiEvent } from "../../model/event.js";
import { createRunAutomaton } from "../../order/index.js";
import { encodeProto } from "../../proto/index.js";
import { createReducer } from "../../reduce/index.js";

/** Counts over a run of hostile inputs. Nothing here depends on time. */
export type Counts = {
  inputs: number;
  /** Inputs that were read to their end. */
  survived: number;
  /** Inputs that ended in a coded error, by code. */
  codes: Map<string, number>;
  /** Violations of the promises below, in words; must stay empty. */
  broken: string[];
};

/** Fresh counts. */
export function createCounts(): Counts {
  return { inputs: 0, survived: 0, codes: new Map(), broken: [] };
}

/** Runs one input; whatever it throws must be a coded error without a payload in its message. */
export function survive(counts: Counts, describe: () => string, run: () => void): void {
  counts.inputs++;
  try {
    run();
    counts.survived++;
  } catch (error) {
    if (isCountersignError(error)) {
      counts.codes.set(error.code, (counts.codes.get(error.code) ?? 0) + 1);
      if (error.message.length > 300) counts.broken.push(`long message: ${error.code}`);
    } else counts.broken.push(`${String(error)} on ${describe().slice(0, 400)}`);
  }
}

const DIALECTS: readonly UpgradeOptions["dialect"][] = [
  "auto",
  "1.0",
  "0.0",
  "auto",
  "1.0",
  "0.0",
  "0.1.0",
  "chio",
];
const TARGETS: readonly DowngradeTarget[] = ["0.0.55", "0.0.59", "0.1.0", "1.0"];

/** One event may end every open lane, and open, fill and close what it names. */
const MOST_EXPANDED = 256 + 3;
const MOST_NOTES = 65;

/**
 * Everything behind the decoders: translate, enforce, expand, order, reduce, and out again in an older
 * dialect and as protobuf. Judging goes on after a violation, as an observer does.
 *
 * `seed` picks the dialects. The returned function takes one parsed value.
 */
export function createHostilePipeline(seed: number, counts: Counts): (value: JsonValue) => void {
  let minted = 0;
  const upgrader = createUpgrader({
    dialect: DIALECTS[seed % DIALECTS.length] ?? "auto",
    mintId: (kind) => `${kind}-${minted++}`,
  });
  const expander = createChunkExpander();
  const automaton = createRunAutomaton({ strict: seed % 2 === 0 });
  const reducer = createReducer();
  const downgrader = createDowngrader(TARGETS[seed % TARGETS.length] ?? "1.0");

  const promise = (kept: boolean, what: string): void => {
    if (!kept) counts.broken.push(what);
  };
  const judge = (event: AgUiEvent): void => {
    const violations = automaton.push(event);
    const listed = "messages" in event ? event.messages.length : 0;
    promise(violations.length <= 70 + listed, "violations are bounded by what the event lists");
    for (const { message, subject } of violations) {
      promise(message.length + (subject?.length ?? 0) <= 600, "a violation is short");
    }
    reducer.push(event);
  };

  return (value) => {
    const before = seed % 4 === 0 ? JSON.stringify(value) : "";
    const upgraded = upgrader.push(value as JsonObject);
    promise(upgraded.notes.length <= MOST_NOTES, "translation notes are bounded");
    for (const candidate of upgraded.events) {
      const { event, notes } = enforceEvent(candidate);
      promise(notes.length <= MOST_NOTES, "enforcement notes are bounded");
      if (event === undefined) continue;
      const expanded = expander.push(event);
      promise(expanded.length <= MOST_EXPANDED, "expansion is bounded");
      for (const single of expanded) judge(single);
      if (seed % 4 === 0) encodeProto(event);
      else downgrader.push(event);
    }
    promise(before === "" || JSON.stringify(value) === before, "the pushed value stays as it was");
    reducer.snapshot();
  };
}

/** The names on the prototypes that hostile keys aim at; they must be the same afterwards. */
export function prototypeNames(): string[] {
  return [Object.prototype, Array.prototype, String.prototype, Function.prototype].map(
    (prototype) => Reflect.ownKeys(prototype).map(String).join(),
  );
}
