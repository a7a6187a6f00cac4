import type { JsonObject, JsonValue } from "@countersign/core";

/** A name that should be on a closed list; `validate` reports one that is not. */
export type Unchecked<Name extends string> = Name | (string & {});

/** Fields of our own, kept through every round trip and ignored otherwise. */
export type Extensions = { [key: `x-${string}`]: JsonValue };

/** The lists of names the format closes. */
export type SeverityLevel = "informational" | "low" | "medium" | "high" | "critical";
/** How far an attack got. */
export type Tier = "ingested" | "local_action" | "boundary_breach";
/** Which way a message travelled: `request` from the client to the server, `response` back. A server actor sends responses. */
export type Direction = "request" | "response";
/** How an indicator looks at a message. */
export type DetectionMethod = "pattern" | "expression" | "semantic";
/** How indicators combine. */
export type CorrelationLogic = "any" | "all";

/** Paths to conditions, all of which must hold. */
export type MatchPredicate = { [path: string]: JsonValue };

/** The condition that ends a phase. */
export type Trigger = { event?: string; count?: number; match?: MatchPredicate; after?: string };

/** Takes a value out of a message for later templates. */
export type Extractor = {
  name: string;
  source: Unchecked<Direction>;
  type: Unchecked<"json_path" | "regex">;
  selector: string;
};

/** One thing to do on entering a phase: `send`, `log`, or one key of a binding. */
export type Action = Extensions & {
  send?: { method: string; params?: JsonValue };
  log?: { message: string; level?: Unchecked<"info" | "warn" | "error"> };
  [key: string]: JsonValue | undefined;
};

/** One entry of a dispatch list. */
export type ResponseEntry = { when?: MatchPredicate; content?: JsonValue; synthesize?: JsonValue };

/** A step of an actor. */
export type Phase = Extensions & {
  name?: string;
  description?: string;
  mode?: string;
  state?: JsonObject;
  extractors?: Extractor[];
  on_enter?: Action[];
  trigger?: Trigger;
};

/** One party of the attack. */
export type Actor = Extensions & { name?: string; mode?: string; phases?: Phase[] };

/** How to perform the attack, in one of three forms. */
export type Execution = Extensions & {
  mode?: string;
  state?: JsonObject;
  phases?: Phase[];
  actors?: Actor[];
};

/** A condition on a value, long (`condition`) or short (one operator). */
export type Pattern = {
  target?: string;
  condition?: JsonValue;
  contains?: string;
  starts_with?: string;
  ends_with?: string;
  regex?: string;
  any_of?: JsonValue[];
  gt?: number;
  lt?: number;
  gte?: number;
  lte?: number;
};

/** A CEL expression over `message` and variables. */
export type Expression = { cel: string; variables?: { [name: string]: string } };

/** A question to a model about the meaning of a text. */
export type Semantic = {
  target?: string;
  intent: string;
  intent_class?: string;
  threshold?: number;
  examples?: { positive?: string[]; negative?: string[] };
};

/** How to tell that the agent gave in. */
export type Indicator = Extensions & {
  id?: string;
  protocol?: string;
  surface?: string;
  target: string;
  actor?: string;
  direction?: Unchecked<Direction>;
  method?: Unchecked<DetectionMethod>;
  description?: string;
  pattern?: Pattern;
  expression?: Expression;
  semantic?: Semantic;
  confidence?: number;
  severity?: Unchecked<SeverityLevel>;
  false_positives?: string[];
  tier?: Unchecked<Tier>;
};

/** The same weakness in another catalogue. */
export type Mapping = {
  framework: string;
  id: string;
  name?: string;
  url?: string;
  relationship?: Unchecked<"primary" | "related">;
};

/** The classification of the attack. */
export type Classification = { category?: string; mappings?: Mapping[]; tags?: string[] };

/** One attack. */
export type Attack = Extensions & {
  id?: string;
  name?: string;
  version?: number;
  status?: Unchecked<"draft" | "experimental" | "stable" | "deprecated">;
  created?: string;
  modified?: string;
  author?: string;
  description?: string;
  grace_period?: string;
  severity?: Unchecked<SeverityLevel> | { level: Unchecked<SeverityLevel>; confidence?: number };
  impact?: string[];
  classification?: Classification;
  references?: { url: string; title?: string; description?: string }[];
  execution?: Execution;
  indicators?: Indicator[];
  correlation?: { logic?: Unchecked<CorrelationLogic> };
};

/**
 * A document as it was written, with the names of the format. `parse` has checked the shape of everything
 * typed here; `attack` may still be something else (V-003) and is narrowed by `validate` or `load`.
 */
export type OatfDocument = { oatf?: string; $schema?: string; attack?: Attack | JsonValue };
