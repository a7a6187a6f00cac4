import { isCountersignError, parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { Tool } from "@countersign/wire";
import { applyPolicy, compilePolicy, scrubValue } from "./reveal.js";
import type { CompiledPolicy, FieldRules, ValuePolicy } from "./reveal.js";
import { createScrubberFactory, scrubText } from "./scrub.js";
import type { ScrubSpec, TextScrubber } from "./scrub.js";
import { summarise } from "./summary.js";
import type { SizeDetail, SummaryReason } from "./summary.js";
import { isRecord, wellFormed } from "./value.js";
import type { SafeValue } from "./value.js";

/** What the application opens. Everything else is a summary or stays inside. */
export type DisclosureSpec = {
  /** By tool name. */
  readonly tools?: Readonly<
    Record<string, { readonly arguments?: ValuePolicy; readonly result?: ValuePolicy }>
  >;
  readonly runInput?: ValuePolicy;
  readonly runOutput?: ValuePolicy;
  /** Needed by the rule `hash`. */
  readonly hashKey?: string;
  /** Taken out of everything that is shown as text; an id or a name that holds it is not shown. */
  readonly scrub?: ScrubSpec;
  readonly sizes?: SizeDetail;
  /** Declarations whose parameter names may appear in summaries. */
  readonly declarations?: readonly Tool[];
  /** The form of an interrupt: its structure without any words, or all of it. Default `withhold`. */
  readonly resumeSchema?: "withhold" | "structure" | "full";
  /** What to tell of why a tool failed. Default: nothing. */
  readonly cause?: (cause: string) => string | undefined;
  /** Commands and folders of the workspace that may be shown; others are summaries. */
  readonly workspace?: {
    readonly commands?: readonly string[];
    readonly pathRoots?: readonly string[];
  };
};

/** A value as it is shown, and whether something was left out. */
export type Shown = { readonly value: SafeValue; readonly redacted: boolean };

type ToolPolicy = { arguments: CompiledPolicy; result: CompiledPolicy };

const MAX_IDENTIFIER = 1024;
/** Larger revealed values are summaries after all: one frame must stay readable for every client. */
const MAX_SHOWN_CHARACTERS = 1024 * 1024;
const CODE = /^[a-z][a-z0-9_.-]{0,63}$/;

/** Decides what of a value leaves the runtime. Made once, used by the built-in projectors. */
export class Disclosure {
  readonly resumeSchema: "withhold" | "structure" | "full";
  readonly createScrubber: () => TextScrubber;
  readonly #tools = new Map<string, ToolPolicy>();
  readonly #declared = new Map<string, ReadonlySet<string>>();
  readonly #runInput: CompiledPolicy;
  readonly #runOutput: CompiledPolicy;
  readonly #spec: DisclosureSpec;
  readonly #commands: ReadonlySet<string>;

  constructor(spec: DisclosureSpec) {
    const { hashKey } = spec;
    this.#spec = spec;
    this.resumeSchema = spec.resumeSchema ?? "withhold";
    this.createScrubber = createScrubberFactory(spec.scrub ?? {});
    this.#runInput = compilePolicy(spec.runInput ?? "summary", hashKey);
    this.#runOutput = compilePolicy(spec.runOutput ?? "summary", hashKey);
    for (const [name, policy] of Object.entries(spec.tools ?? {})) {
      this.#tools.set(name, {
        arguments: compilePolicy(policy.arguments ?? "summary", hashKey),
        result: compilePolicy(policy.result ?? "summary", hashKey),
      });
    }
    for (const tool of spec.declarations ?? []) {
      const { parameters } = tool;
      const properties = isRecord(parameters) ? parameters["properties"] : undefined;
      if (isRecord(properties)) this.#declared.set(tool.name, new Set(Object.keys(properties)));
    }
    this.#commands = new Set(spec.workspace?.commands);
  }

  /** Text that is kept: scrubbed, and well-formed. */
  text(text: string): string {
    return wellFormed(scrubText(text, this.createScrubber));
  }

  /** What an owner of the application's shows, without what the scrub rules forbid. */
  scrubbed(value: SafeValue): SafeValue {
    return this.#spec.scrub === undefined ? value : scrubValue(value, (text) => this.text(text));
  }

  /** An id or a name as it is, or nothing when it is none or would have to be scrubbed. */
  identifier(value: unknown): string | undefined {
    if (typeof value !== "string" || value === "" || value.length > MAX_IDENTIFIER)
      return undefined;
    return this.text(value) === value ? value : undefined;
  }

  /** A word of a closed vocabulary; free text is not one. */
  code(value: unknown): string | undefined {
    return typeof value === "string" && CODE.test(value) ? this.identifier(value) : undefined;
  }

  /** A summary of a value nobody may open. */
  summary(value: unknown, reason: SummaryReason): JsonObject {
    return summarise(value, reason, { sizes: this.#spec.sizes ?? "bucket" });
  }

  /** The arguments of a call, which the model wrote as JSON text. */
  toolArguments(tool: string, value: unknown): Shown {
    const declaredKeys = this.#declared.get(tool);
    const policy = this.#tools.get(tool)?.arguments ?? "summary";
    const isOpen = declaredKeys !== undefined || policy !== "summary";
    const read = typeof value === "string" && isOpen ? parsed(value) : undefined;
    // Text that is no JSON has no fields to choose from: it is not shown, whatever the policy says.
    if (read === undefined && typeof value === "string")
      return this.#redacted(value, "tool_arguments");
    return this.#show(policy, read ?? value, "tool_arguments", declaredKeys);
  }

  /** The result of a call. */
  toolResult(tool: string | undefined, value: unknown): Shown {
    const policy = tool === undefined ? "summary" : (this.#tools.get(tool)?.result ?? "summary");
    const read =
      typeof value === "string" && typeof policy !== "string" ? parsed(value) : undefined;
    return this.#show(policy, read ?? value, "tool_result");
  }

  /** What the person asked for. */
  runInput(value: unknown): SafeValue {
    return this.#show(this.#runInput, value, "run_input").value;
  }

  /** What the run returned. */
  runOutput(value: unknown): SafeValue {
    return this.#show(this.#runOutput, value, "run_output").value;
  }

  /** Why a tool failed, if the application tells. */
  cause(value: unknown): string | undefined {
    if (typeof value !== "string" || this.#spec.cause === undefined) return undefined;
    const told = this.#spec.cause(value);
    return typeof told === "string" ? this.text(told) : undefined;
  }

  /** A path below one of the roots that may be shown; otherwise a summary. */
  path(value: unknown): SafeValue {
    const isShown =
      typeof value === "string" &&
      !/[\\\p{Cc}]/u.test(value) &&
      !value.split("/").includes("..") &&
      (this.#spec.workspace?.pathRoots ?? []).some((root) => isBelow(value, root));
    const shown = isShown ? this.identifier(value) : undefined;
    return shown ?? this.summary(value, "workspace");
  }

  /** A command that is listed, exactly; otherwise a summary. */
  command(value: unknown): SafeValue {
    const shown =
      typeof value === "string" && this.#commands.has(value) ? this.identifier(value) : undefined;
    return shown ?? this.summary(value, "workspace");
  }

  #show(
    policy: CompiledPolicy,
    value: unknown,
    reason: SummaryReason,
    declaredKeys?: ReadonlySet<string>,
  ): Shown {
    const sizes = this.#spec.sizes ?? "bucket";
    const rules: FieldRules = {
      summary: (part) =>
        summarise(part, reason, declaredKeys === undefined ? { sizes } : { sizes, declaredKeys }),
      text: (text) => this.text(text),
      hashKey: this.#spec.hashKey,
    };
    const shown = applyPolicy(policy, value, rules);
    if (shown === undefined) return { value: { redacted: true, reason }, redacted: true };
    if (policy !== "summary" && JSON.stringify(shown).length > MAX_SHOWN_CHARACTERS) {
      return this.#redacted(value, reason);
    }
    return { value: shown, redacted: policy !== "reveal" };
  }

  #redacted(value: unknown, reason: SummaryReason): Shown {
    return { value: this.summary(value, reason), redacted: true };
  }
}

function isBelow(path: string, root: string): boolean {
  return path.startsWith(root.endsWith("/") ? root : `${root}/`);
}

function parsed(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch (error) {
    if (isCountersignError(error)) return undefined;
    throw error;
  }
}
