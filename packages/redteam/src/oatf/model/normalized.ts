import type { JsonValue } from "@countersign/core";
import type {
  Actor,
  Attack,
  CorrelationLogic,
  Execution,
  Indicator,
  Pattern,
  Phase,
  SeverityLevel,
  Unchecked,
} from "./document.js";

/** A phase with its name. */
export type NormalizedPhase = Phase & { name: string };

/** An actor with everything a runner needs. */
export type NormalizedActor = Omit<Actor, "name" | "mode" | "phases"> & {
  name: string;
  mode: string;
  phases: NormalizedPhase[];
};

/** A pattern in its long form. */
export type NormalizedPattern = Pick<Pattern, "target"> & { condition: JsonValue };

/** An indicator with its identity and protocol. */
export type NormalizedIndicator = Omit<Indicator, "id" | "protocol" | "pattern"> & {
  id: string;
  protocol: string;
  pattern?: NormalizedPattern;
};

/** An attack whose defaults are written out and whose execution has the actor form. */
export type NormalizedAttack = Omit<
  Attack,
  "name" | "version" | "status" | "severity" | "execution" | "indicators" | "correlation"
> & {
  name: string;
  version: number;
  status: NonNullable<Attack["status"]>;
  severity?: { level: Unchecked<SeverityLevel>; confidence: number };
  execution: Omit<Execution, "mode" | "state" | "phases" | "actors"> & {
    actors: NormalizedActor[];
  };
  indicators?: NormalizedIndicator[];
  correlation?: { logic: Unchecked<CorrelationLogic> };
};

/** A document in the form that runners and evaluators work on. */
export type NormalizedDocument = { oatf: string; $schema?: string; attack: NormalizedAttack };
