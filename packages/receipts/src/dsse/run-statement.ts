import type { JsonObject, JsonValue } from "@countersign/core";
import {
  canonicalJson,
  decodeUtf8,
  isJsonObject,
  ownMember,
  pageAddress,
  parseJson,
} from "@countersign/core";
import { utf8 } from "../receipt/canonical-text.js";
import { MAX_ENVELOPE_BYTES, malformedDsse } from "./envelope.js";
import type { RunFacts, RunName } from "./run-summary.js";

/** The payload type of in-toto statements in DSSE envelopes. */
export const IN_TOTO_PAYLOAD_TYPE = "application/vnd.in-toto+json";
const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
/** The predicate type of our statements: the page that defines the predicate. */
export const RUN_PREDICATE_TYPE: string = pageAddress("receipts/run-statement.md#v1");

const HEX_HASH = /^[0-9a-f]{64}$/;

/** The statement of the log's key about one run. */
export type RunStatement = RunFacts & {
  /** The origin of the log. */
  readonly log: string;
  readonly run: RunName;
  /**
   * The tree that has the entries. Entries of the run from `size` on are not part of the statement,
   * and none before `first`: the log had removed them because of their age.
   */
  readonly tree: { readonly first: number; readonly size: number; readonly root: string };
};

/** Writes the in-toto statement as canonical JSON: the payload of the envelope. */
export function encodeRunStatement(statement: RunStatement): Uint8Array {
  const { log, run, tree, entries, decisions, policies, transcript } = statement;
  const predicate: JsonObject = {
    log,
    run: { ...run },
    tree: { ...tree },
    entries: { ...entries },
    decisions: { ...decisions },
    policies: [...policies],
  };
  const subject = { name: `run/${encodeURIComponent(run.run_id)}`, digest: { sha256: transcript } };
  return utf8(
    canonicalJson({
      _type: STATEMENT_TYPE,
      subject: [subject],
      predicateType: RUN_PREDICATE_TYPE,
      predicate,
    }),
  );
}

/** Reads the statement about a run; only its canonical form is one. */
export function decodeRunStatement(payload: Uint8Array): RunStatement {
  const part = "the statement";
  let value: JsonValue;
  try {
    value = parseJson(payload, { maxBytes: MAX_ENVELOPE_BYTES });
  } catch {
    throw malformedDsse(part, "not JSON");
  }
  const statement = objectOf(value, part);
  if (ownMember(statement, "predicateType") !== RUN_PREDICATE_TYPE) {
    throw malformedDsse(part, `the predicate type is not ${RUN_PREDICATE_TYPE}`);
  }
  const predicate = memberObject(statement, "predicate");
  const [subject] = listOf(statement, "subject");
  const read: RunStatement = {
    log: textOf(predicate, "log"),
    run: runOf(memberObject(predicate, "run")),
    tree: treeOf(memberObject(predicate, "tree")),
    entries: countsOf(memberObject(predicate, "entries"), ["count", "first", "last"]),
    decisions: countsOf(memberObject(predicate, "decisions"), [
      "allowed",
      "blocked",
      "would_block",
    ]),
    policies: listOf(predicate, "policies").map((policy) => {
      if (typeof policy !== "string") throw malformedDsse(part, "policies");
      return policy;
    }),
    transcript: hashOf(memberObject(objectOf(subject, "subject"), "digest"), "sha256"),
  };
  // Unknown members and other spellings would be signed, and unread.
  if (decodeUtf8(encodeRunStatement(read)) !== decodeUtf8(payload)) {
    throw malformedDsse(part, "not the canonical JSON of its members");
  }
  return read;
}

function runOf(run: JsonObject): RunName {
  const thread = ownMember(run, "thread_id");
  if (thread === undefined) return { run_id: textOf(run, "run_id") };
  return { run_id: textOf(run, "run_id"), thread_id: textOf(run, "thread_id") };
}

function treeOf(tree: JsonObject): RunStatement["tree"] {
  return { ...countsOf(tree, ["first", "size"]), root: hashOf(tree, "root") };
}

function objectOf(value: JsonValue | undefined, part: string): JsonObject {
  if (value === undefined || !isJsonObject(value)) throw malformedDsse(part, "not an object");
  return value;
}

function memberObject(value: JsonObject, member: string): JsonObject {
  return objectOf(ownMember(value, member), member);
}

function listOf(value: JsonObject, member: string): JsonValue[] {
  const list = ownMember(value, member);
  if (!Array.isArray(list)) throw malformedDsse(member, "not a list");
  return list;
}

function textOf(value: JsonObject, member: string): string {
  const text = ownMember(value, member);
  if (typeof text !== "string") throw malformedDsse(member, "not a text");
  return text;
}

function hashOf(value: JsonObject, member: string): string {
  const text = textOf(value, member);
  if (!HEX_HASH.test(text)) throw malformedDsse(member, "not a SHA-256");
  return text;
}

function countsOf<Name extends string>(
  value: JsonObject,
  names: readonly Name[],
): Record<Name, number> {
  const counts = names.map((name) => {
    const count = ownMember(value, name);
    if (typeof count !== "number" || !Number.isSafeInteger(count) || count < 0) {
      throw malformedDsse(name, "not a whole number");
    }
    return [name, count];
  });
  return Object.fromEntries(counts) as Record<Name, number>;
}
