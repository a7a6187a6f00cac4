/**
 * Our types and those of `@ag-ui/core@1.0.0` are assignable both ways; the type check fails on drift.
 *
 * Two differences are deliberate. Their `type` is a nominal enum, ours the plain string: a template
 * literal turns the enum into its text before comparing. Their `RunAgentInput` type requires `tools` and
 * `context` because their parser supplies `[]`, while their schema and the wire leave both optional: ours
 * says what is on the wire, so both are made optional before comparing. Their open values are `any`, which
 * is assignable to everything; names and optionality of fields are therefore compared as well.
 */
import type * as Official from "@ag-ui/core";
import type {
  AgUiEvent,
  ContentPart,
  Context,
  EventOf,
  EventType,
  Interrupt,
  JsonPatchOperation,
  Message,
  ResumeEntry,
  Role,
  RunAgentInput,
  RunFinishedOutcome,
  SubagentFinishedOutcome,
  TokenUsage,
  Tool,
  ToolCall,
} from "./index.js";

type Both<Ours, Theirs> = [Ours] extends [Theirs]
  ? [Theirs] extends [Ours]
    ? true
    : false
  : false;

type OptionalKeys<T> = {
  [Key in keyof T]-?: Record<never, never> extends Pick<T, Key> ? Key : never;
}[keyof T];
type SameKeys<Ours, Theirs> =
  Both<keyof Ours, keyof Theirs> extends true
    ? Both<OptionalKeys<Ours>, OptionalKeys<Theirs>>
    : false;
/** Members that 1.1 adds; the published packages do not have them yet. */
type Newer = "encryptedValueType";
type Same<Ours, Theirs> =
  Both<Ours, Theirs> extends true ? SameKeys<Omit<Ours, Newer>, Theirs> : false;

type WireInput = Omit<Official.RunAgentInput, "tools" | "context"> &
  Partial<Pick<Official.RunAgentInput, "tools" | "context">>;
type WireEvent<E> = E extends { type: infer Type extends string }
  ? Omit<E, "type" | "input"> & { type: `${Type}` } & (E extends { input?: Official.RunAgentInput }
        ? "input" extends keyof E
          ? { input?: WireInput }
          : unknown
        : unknown)
  : never;
type TheirEvent = WireEvent<Official.AGUIEvent>;
type TheirEventOf<Type extends EventType> = Extract<TheirEvent, { type: Type }>;

type MessageOf<M, R> = Extract<M, { role: R }>;
type ByRole = { [R in Role]: Same<MessageOf<Message, R>, MessageOf<Official.Message, R>> };
type ByType = { [Type in EventType]: Same<EventOf<Type>, TheirEventOf<Type>> };
type PartsByType = {
  [Type in ContentPart["type"]]: Same<
    Extract<ContentPart, { type: Type }>,
    Extract<Official.ContentPart, { type: Type }>
  >;
};

type Not<T extends boolean> = T extends true ? false : true;
/** The comparison itself can fail: a lost field, a field made required, a narrower value, another type. */
type Controls = {
  lostField: Not<Same<Omit<TokenUsage, "model">, Official.TokenUsage>>;
  madeRequired: Not<Same<Required<EventOf<"RAW">>, TheirEventOf<"RAW">>>;
  narrower: Not<Same<EventOf<"RUN_ERROR"> & { message: "x" }, TheirEventOf<"RUN_ERROR">>>;
  otherEvent: Not<Same<EventOf<"RUN_STARTED">, TheirEventOf<"RUN_FINISHED">>>;
  otherInput: Not<Same<RunAgentInput, Official.RunAgentInput>>;
};

type AllTrue<T extends Record<string, true>> = T;

/** Compiles only while every member is `true`. */
export type Assignable = AllTrue<
  ByType &
    ByRole &
    PartsByType &
    Controls & {
      types: Both<EventType, `${Official.EventType}`>;
      events: Both<AgUiEvent["type"], TheirEvent["type"]>;
      messages: Both<Message, Official.Message>;
      input: Same<RunAgentInput, WireInput>;
      tool: Same<Tool, Official.Tool>;
      context: Same<Context, Official.Context>;
      resume: Same<ResumeEntry, Official.ResumeEntry>;
      toolCall: Same<ToolCall, Official.ToolCall>;
      interrupt: Same<Interrupt, Official.Interrupt>;
      usage: Same<TokenUsage, Official.TokenUsage>;
      runOutcome: Both<RunFinishedOutcome, Official.RunFinishedOutcome>;
      subagentOutcome: Both<SubagentFinishedOutcome, Official.SubagentFinishedOutcome>;
      patch: Both<JsonPatchOperation, Official.JsonPatchOperation>;
    }
>;
