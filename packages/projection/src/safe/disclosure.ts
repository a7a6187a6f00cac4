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

/** The values that the application discloses. Everything else is a summary or stays inside. */
export type DisclosureSpec = {
  /** By tool name. */
  readonly tools?: Readonly<
    Record<string, { readonly arguments?: ValuePolicy; readonly result?: ValuePolicy }>
  >;
  readonly runInput?: ValuePolicy;
  readonly runOutput?: ValuePolicy;
  /** Required by the rule `hash`. */
  readonly hashKey?: string;
  /** Removed from all shown text; an id or a name that contains a match is not shown. */
  readonly scrub?: ScrubSpec;
  readonly sizes?: SizeDetail;
  /** Declarations whose parameter names may appear in summaries. */
  readonly declarations?: readonly Tool[];
  /** The form of an interrupt: its structure without texts, or all of it. Default `withhold`. */
  readonly resumeSchema?: "withhold" | "structure" | "full";
  /** The text to show for the cause of a tool failure. Default: nothing. */
  readonly cause?: (cause: string) => string | undefined;
  /** Workspace commands and directories that may be shown; others are summaries. */
  readonly workspace?: {
    readonly commands?: readonly string[];
    readonly pathRoots?: readonly string[];
  };
};

/** A value for display, and whether something was omitted. */
export type Disclosed = { readonly value: SafeValue; readonly redacted: boolean };

type ToolPolicy = { arguments: CompiledPolicy; result: CompiledPolicy };

const MAX_IDENTIFIER = 1024;
/** Larger revealed values become summaries: every client must be able to read a frame. */
const MAX_SHOWN_CHARACTERS = 1024 * 1024;
const CODE = /^[a-z][a-z0-9_.-]{0,63}$/;

/**
 * Decides which part of a value leaves the runtime. Created once, used by the built-in projectors.
 */
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

  /** Text for display: scrubbed and well-formed. */
  text(text: string): string {
    return wellFormed(scrubText(text, this.createScrubber));
  }

  /** The output of an application owner, scrubbed. */
  scrubbed(value: SafeValue): SafeValue {
    return this.#spec.scrub === undefined ? value : scrubValue(value, (text) => this.text(text));
  }

  /** An id or a name verbatim; undefined when it is invalid or would have to be scrubbed. */
  identifier(value: unknown): string | undefined {
    if (typeof value !== "string" || value === "" || value.length > MAX_IDENTIFIER)
      return undefined;
    return this.text(value) === value ? value : undefined;
  }

  /** A code of a closed vocabulary, not free text. */
  code(value: unknown): string | undefined {
    return typeof value === "string" && CODE.test(value) ? this.identifier(value) : undefined;
  }

  /** A summary of a value that is not disclosed. */
  summary(value: unknown, reason: SummaryReason): JsonObject {
    return summarise(value, reason, { sizes: this.#spec.sizes ?? "bucket" });
  }

  /** The arguments of a call, which the model wrote as JSON text. */
  toolArguments(tool: string, value: unknown): Disclosed {
    const declaredKeys = this.#declared.get(tool);
    const policy = this.#tools.get(tool)?.arguments ?? "summary";
    const isOpen = declaredKeys !== undefined || policy !== "summary";
    const read = typeof value === "string" && isOpen ? parsed(value) : undefined;
    // Text that is not JSON has no fields to choose from: it is not shown, whatever the policy.
    if (read === undefined && typeof value === "string")
      return this.#redacted(value, "tool_arguments");
    return this.#show(policy, read ?? value, "tool_arguments", declaredKeys);
  }

  /** The result of a call. */
  toolResult(tool: string | undefined, value: unknown): Disclosed {
    const policy = tool === undefined ? "summary" : (this.#tools.get(tool)?.result ?? "summary");
    const read =
      typeof value === "string" && typeof policy !== "string" ? parsed(value) : undefined;
    return this.#show(policy, read ?? value, "tool_result");
  }

  /** The input of the run. */
  runInput(value: unknown): SafeValue {
    return this.#show(this.#runInput, value, "run_input").value;
  }

  /** The output of the run. */
  runOutput(value: unknown): SafeValue {
    return this.#show(this.#runOutput, value, "run_output").value;
  }

  /** The cause of a tool failure, if the application shows it. */
  cause(value: unknown): string | undefined {
    if (typeof value !== "string" || this.#spec.cause === undefined) return undefined;
    const told = this.#spec.cause(value);
    return typeof told === "string" ? this.text(told) : undefined;
  }

  /** A path below one of the allowed roots; otherwise a summary. */
  path(value: unknown): SafeValue {
    const isShown =
      typeof value === "string" &&
      !/[\\\p{Cc}]/u.test(value) &&
      !value.split("/").includes("..") &&
      (this.#spec.workspace?.pathRoots ?? []).some((root) => isBelow(value, root));
    const shown = isShown ? this.identifier(value) : undefined;
    return shown ?? this.summary(value, "workspace");
  }

  /** A listed command, exactly; otherwise a summary. */
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
  ): Disclosed {
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

  #redacted(value: unknown, reason: SummaryReason): Disclosed {
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
