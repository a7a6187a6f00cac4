import { CountersignError } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { EnvelopeClaim } from "./envelope/envelope.js";
import { looksLikeEnvelope, unwrapEnvelope } from "./envelope/parse.js";
import { openEnvelopeRun, upgradeEnvelope } from "./envelope/translate.js";
import { isEventType } from "../model/table.js";
import { createFieldReader } from "./fields.js";
import { isJsonObject, ownMember } from "./json-object.js";
import { isPlainEvent } from "./legacy/plain.js";
import { createLegacyUpgrader } from "./legacy/upgrade.js";
import { createNoteSink } from "./note.js";
import type { DialectNote } from "./note.js";
import { assertUpgradeOptions } from "./options.js";
import type { Dialect, UpgradeOptions } from "./options.js";
import { detectSuperseded } from "./superseded/detect.js";
import { SUPERSEDED_EVENTS } from "./superseded/upgrade.js";
import type { SupersededState } from "./superseded/upgrade.js";

/** What one pushed value became. */
export type UpgradeResult = {
  /** Events of 1.0 in form, not yet enforced. */
  events: JsonObject[];
  notes: DialectNote[];
  /** What an envelope claimed, for the policy stage; only in the `chio` dialect. */
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
  const upgradeLegacy = createLegacyUpgrader(options.mintId);
  const superseded: SupersededState = {
    options,
    threadId: undefined,
    runId: undefined,
    agentRunId: undefined,
    requestedRunUsed: false,
    messageId: undefined,
  };
  let family = fixedFamily(options.dialect);
  let lenient = options.dialect !== "1.0";
  let sawOlder = options.dialect === "0.0";
  let envelopeRunOpen = false;
  let eventNumber = 0;
  let failure: unknown;

  function translate(value: JsonObject, notes: DialectNote[]): Translation {
    const note = createNoteSink(notes, eventNumber);
    family ??= detectFamily(value);
    const type = ownMember(value, "type");
    if (family === "chio") {
      if (type !== undefined) throw mixed("chio");
      const claim = unwrapEnvelope(value, eventNumber);
      const events = upgradeEnvelope(claim.envelope);
      if (!envelopeRunOpen) events.unshift(openEnvelopeRun(claim.envelope, options, note));
      envelopeRunOpen = true;
      return { events, claim };
    }
    if (family === "0.1.0") {
      const entry = typeof type === "string" ? SUPERSEDED_EVENTS.get(type) : undefined;
      if (entry === undefined || typeof type !== "string") {
        // Two dialects on one stream give one event two readings; a type that neither knows has none.
        if (typeof type !== "string" || isEventType(type)) throw mixed("0.1.0");
        note("unknown-event-dropped");
        return { events: [] };
      }
      const read = createFieldReader(value, type, eventNumber, note);
      const events = entry(read, superseded, note);
      read.noteRest();
      return { events };
    }
    if (options.dialect === "auto" && type === "RUN_STARTED") {
      lenient = !Object.hasOwn(value, "protocolVersion");
    }
    return { events: [upgradeLegacy(value, { eventNumber, note, lenient })] };
  }

  function mixed(dialect: string): CountersignError<"ERR_DIALECT_MIXED"> {
    return new CountersignError(
      "ERR_DIALECT_MIXED",
      `event ${eventNumber} is not an event of the ${dialect} dialect`,
      { event: eventNumber, dialect },
    );
  }

  return {
    get dialect() {
      if (family === "chio" || family === "0.1.0") return family;
      return sawOlder ? "0.0" : "1.0";
    },
    push(value) {
      if (failure !== undefined) throw failure;
      eventNumber += 1;
      const plain = family === "native" && isJsonObject(value) && isPlainEvent(value);
      if (plain) return { events: [value], notes: [] };
      const notes: DialectNote[] = [];
      try {
        if (!isJsonObject(value)) {
          throw new CountersignError(
            "ERR_DIALECT_NOT_OBJECT",
            `event ${eventNumber} is not a JSON object`,
            { event: eventNumber },
          );
        }
        const translation = translate(value, notes);
        if (notes.length > 0) sawOlder = true;
        return { ...translation, notes };
      } catch (error) {
        failure = error;
        throw error;
      }
    },
    end() {
      if (failure !== undefined) throw failure;
      // No dialect holds anything back, and no end of a run is ever invented.
      return { events: [], notes: [] };
    },
  };
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
