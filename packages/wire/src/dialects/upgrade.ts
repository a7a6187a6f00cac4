import { CountersignError, isJsonObject, ownMember } from "@countersign/core";
import type { ErrorCode, JsonObject } from "@countersign/core";
import type { EnvelopeClaim } from "./envelope/envelope.js";
import { looksLikeEnvelope, unwrapEnvelope } from "./envelope/parse.js";
import { openEnvelopeRun, upgradeEnvelope } from "./envelope/translate.js";
import { isEventType } from "../model/table.js";
import { createFieldReader } from "./fields.js";
import { isPlainEvent } from "./legacy/plain.js";
import { createLegacyUpgrader } from "./legacy/upgrade.js";
import { createNoteSink } from "./note.js";
import type { DialectNote, NoteSink } from "./note.js";
import { assertUpgradeOptions } from "./options.js";
import type { Dialect, UpgradeOptions } from "./options.js";
import { detectSuperseded } from "./superseded/detect.js";
import { SUPERSEDED_EVENTS } from "./superseded/upgrade.js";
import type { SupersededState } from "./superseded/upgrade.js";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A stream carried something other than a JSON object where an event was due. */
    ERR_DIALECT_NOT_OBJECT: { event: number };
    /** A field of a translated dialect holds a value that has no translation. */
    ERR_DIALECT_FIELD: { event: number; type: string; field: string; expected: string };
    /** A field is present twice, in snake_case and in camelCase. */
    ERR_DIALECT_DOUBLE_SPELLING: { event: number; path: string };
    /** A stream in one dialect carries an event of another. */
    ERR_DIALECT_MIXED: { event: number; dialect: string };
    /** A THINKING continuation has no opener whose id it could carry. */
    ERR_DIALECT_THINKING_NOT_OPEN: { event: number; type: string };
    /** An event envelope breaks its closed shape or its boundary rules. */
    ERR_DIALECT_ENVELOPE: { event: number; field: string; problem: string };
    /** A request body has no translation between the dialects. */
    ERR_DIALECT_REQUEST: { field: string; expected: string };
  }
}

/** The codes that translation throws. */
export type DialectErrorCode = Extract<ErrorCode, `ERR_DIALECT_${string}`>;

/** The result of pushing one value. */
export type UpgradeResult = {
  /** Events of 1.0 in form, not yet enforced. */
  events: JsonObject[];
  notes: DialectNote[];
  /** The claim of an envelope, for the policy stage; only in the `chio` dialect. */
  claim?: EnvelopeClaim;
};

/** Translates one stream towards 1.0. Dead after an error. */
export type Upgrader = {
  push(value: JsonObject): UpgradeResult;
  end(): UpgradeResult;
  /** The dialect as far as the stream has shown it; `1.0` while nothing told otherwise. */
  readonly dialect: Dialect;
};

type Family = "native" | "0.1.0" | "chio";
type Translation = Pick<UpgradeResult, "events" | "claim">;

/** Makes the translator of one stream towards 1.0; what has no defined translation is refused. */
export function createUpgrader(options: UpgradeOptions): Upgrader {
  assertUpgradeOptions(options);
  return new StreamUpgrader(options);
}

class StreamUpgrader implements Upgrader {
  readonly #options: UpgradeOptions;
  #family: Family | undefined;
  #lenient: boolean;
  #sawOlder: boolean;
  #envelopeRunOpen = false;
  #eventNumber = 0;
  #failure: unknown;
  // Made by the first event that needs them: a stream speaks one dialect.
  #legacy: ReturnType<typeof createLegacyUpgrader> | undefined;
  #superseded: SupersededState | undefined;

  constructor(options: UpgradeOptions) {
    this.#options = options;
    this.#family = fixedFamily(options.dialect);
    this.#lenient = options.dialect !== "1.0";
    this.#sawOlder = options.dialect === "0.0";
  }

  get dialect(): Dialect {
    if (this.#family === "chio" || this.#family === "0.1.0") return this.#family;
    return this.#sawOlder ? "0.0" : "1.0";
  }

  push(value: JsonObject): UpgradeResult {
    if (this.#failure !== undefined) throw this.#failure;
    this.#eventNumber += 1;
    const plain = this.#family === "native" && isJsonObject(value) && isPlainEvent(value);
    if (plain) return { events: [value], notes: [] };
    const notes: DialectNote[] = [];
    try {
      if (!isJsonObject(value)) {
        throw new CountersignError(
          "ERR_DIALECT_NOT_OBJECT",
          `event ${this.#eventNumber} is not a JSON object`,
          { event: this.#eventNumber },
        );
      }
      const translation = this.#translate(value, notes);
      if (notes.length > 0) this.#sawOlder = true;
      return { ...translation, notes };
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  end(): UpgradeResult {
    if (this.#failure !== undefined) throw this.#failure;
    // No dialect holds anything back, and no end of a run is ever invented.
    return { events: [], notes: [] };
  }

  #translate(value: JsonObject, notes: DialectNote[]): Translation {
    const note = createNoteSink(notes, this.#eventNumber);
    this.#family ??= detectFamily(value);
    if (this.#family === "chio") return this.#unwrap(value, note);
    if (this.#family === "0.1.0") return this.#replace(value, note);
    const { dialect, mintId } = this.#options;
    if (dialect === "auto" && ownMember(value, "type") === "RUN_STARTED") {
      this.#lenient = !Object.hasOwn(value, "protocolVersion");
    }
    this.#legacy ??= createLegacyUpgrader(mintId);
    const context = { eventNumber: this.#eventNumber, note, lenient: this.#lenient };
    return { events: [this.#legacy(value, context)] };
  }

  #unwrap(value: JsonObject, note: NoteSink): Translation {
    if (ownMember(value, "type") !== undefined) throw this.#mixed("chio");
    const claim = unwrapEnvelope(value, this.#eventNumber);
    const events = upgradeEnvelope(claim.envelope);
    if (!this.#envelopeRunOpen) {
      events.unshift(openEnvelopeRun(claim.envelope, this.#options, note));
    }
    this.#envelopeRunOpen = true;
    return { events, claim };
  }

  #replace(value: JsonObject, note: NoteSink): Translation {
    const type = ownMember(value, "type");
    const entry = typeof type === "string" ? SUPERSEDED_EVENTS.get(type) : undefined;
    if (entry === undefined || typeof type !== "string") {
      // Two dialects on one stream give one event two readings; a type that neither knows has none.
      if (typeof type !== "string" || isEventType(type)) throw this.#mixed("0.1.0");
      note("unknown-event-dropped");
      return { events: [] };
    }
    const read = createFieldReader(value, type, this.#eventNumber, note);
    this.#superseded ??= {
      options: this.#options,
      threadId: undefined,
      runId: undefined,
      agentRunId: undefined,
      requestedRunUsed: false,
      messageId: undefined,
    };
    const events = entry(read, this.#superseded, note);
    read.noteRest();
    return { events };
  }

  #mixed(dialect: string): CountersignError<"ERR_DIALECT_MIXED"> {
    return new CountersignError(
      "ERR_DIALECT_MIXED",
      `event ${this.#eventNumber} is not an event of the ${dialect} dialect`,
      { event: this.#eventNumber, dialect },
    );
  }
}

function fixedFamily(dialect: UpgradeOptions["dialect"]): Family | undefined {
  if (dialect === "auto") return undefined;
  return dialect === "chio" || dialect === "0.1.0" ? dialect : "native";
}

/** Decided by the first event that is neither an error nor without a type; undefined leaves it open. */
function detectFamily(value: JsonObject): Family | undefined {
  if (looksLikeEnvelope(value)) return "chio";
  if (detectSuperseded(value)) return "0.1.0";
  const type = ownMember(value, "type");
  return typeof type !== "string" || type === "RUN_ERROR" ? undefined : "native";
}
