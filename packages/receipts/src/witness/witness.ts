import { isCountersignError } from "@countersign/core";
import { verifyEd25519 } from "@countersign/core/verify";
import { parseCheckpoint } from "../checkpoint/checkpoint.js";
import type { Checkpoint } from "../checkpoint/checkpoint.js";
import type { OpenedCheckpoint } from "../checkpoint/verify-checkpoint.js";
import { openCheckpoint } from "../checkpoint/verify-checkpoint.js";
import { EMPTY_ROOT } from "../merkle/hash.js";
import { verifyConsistency } from "../merkle/verify-proof.js";
import { signCosignature } from "../note/sign-cosignature.js";
import { encodeNote, encodeNoteSignature, parseNote } from "../note/note.js";
import type { NoteSignature } from "../note/note.js";
import type { MessageSigner } from "../note/sign-note.js";
import type { NoteKey } from "../note/vkey.js";
import type { AddCheckpoint } from "./add-checkpoint.js";
import { decodeAddCheckpoint, originHash, SIZE_TYPE } from "./add-checkpoint.js";
import { createRateLimit } from "./rate-limit.js";
import type { WitnessState } from "./witness-state.js";

/** A response of a witness. */
export type WitnessResponse = {
  readonly status: 200 | 400 | 403 | 404 | 409 | 422 | 429 | 500;
  readonly body: string;
  readonly type?: string;
  /** The log of the request, once its signature was verified. */
  readonly origin?: string;
  readonly size?: number;
};

/** Options of {@link createWitness}. */
export type WitnessOptions = {
  /** The key name of the witness, a URL without scheme. */
  readonly name: string;
  readonly signer: MessageSigner;
  /** The keys of the accepted logs; the name of each is the origin of its log. */
  readonly logs: readonly NoteKey[];
  readonly state: WitnessState;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Cosignatures per minute and log; default 60. */
  readonly perMinute?: number;
};

/** Cosigns checkpoints of logs that only grow (C2SP tlog-witness). */
export type Witness = {
  /** Handles the body of one request. Rejects only when the state cannot be read or written. */
  addCheckpoint(body: string): Promise<WitnessResponse>;
  /** The newest cosigned checkpoint of a log, by the hexadecimal SHA-256 of its origin. */
  newest(originHash: string): Promise<string | undefined>;
};

const EMPTY = { size: 0, root: EMPTY_ROOT };
/** A checkpoint that comes again within this time gets the same cosignature again: anyone can repeat it. */
const REPEAT_S = 10;

function refuse(status: WitnessResponse["status"], reason: string): WitnessResponse {
  return { status, body: `${reason}\n` };
}

/** Creates a witness over its stored state. */
export function createWitness(options: WitnessOptions): Witness {
  const { name, signer, logs, state, clock = Date.now, perMinute = 60 } = options;
  const known = new Map(logs.map(({ name: origin }) => [originHash(origin), origin]));
  const turns = new Map<string, Promise<unknown>>();
  const limit = createRateLimit(perMinute, clock);
  /** The last cosignature of each log that is stored safely. */
  const latest = new Map<string, { text: string; time: number; body: string }>();

  /** One request per log at a time: the comparison with the state and its change are one step. */
  const inTurn = <Result>(origin: string, act: () => Promise<Result>): Promise<Result> => {
    const done = (turns.get(origin) ?? Promise.resolve()).then(act);
    turns.set(
      origin,
      done.catch(() => undefined),
    );
    return done;
  };

  const cosign = async (
    request: AddCheckpoint,
    checkpoint: OpenedCheckpoint,
  ): Promise<WitnessResponse> => {
    const { origin, size, note } = checkpoint;
    const stored = await state.read(origin);
    const seen = stored === undefined ? EMPTY : parseCheckpoint(parseNote(stored).text);
    if (request.old !== seen.size || isFork(seen, checkpoint)) {
      return { status: 409, body: `${seen.size}\n`, type: SIZE_TYPE };
    }
    if (!verifyConsistency(seen, checkpoint, request.proof)) {
      return refuse(422, "the consistency proof does not verify");
    }
    const time = Math.floor(clock() / 1000);
    const last = latest.get(origin);
    if (last?.text === note.text && Math.abs(time - last.time) < REPEAT_S) {
      return { status: 200, body: last.body, size };
    }
    // Only here: what anyone can send does not use up what the log needs.
    if (!limit(origin)) return refuse(429, "too many checkpoints of this log");
    const line = await signCosignature(name, note.text, time, signer);
    // Also for a size that is stored already: its earlier write may have been interrupted.
    await state.write(
      origin,
      encodeNote({ text: note.text, signatures: [logLineOf(checkpoint), line] }),
    );
    const body = encodeNoteSignature(line);
    latest.set(origin, { text: note.text, time, body });
    return { status: 200, body, size };
  };

  return {
    async addCheckpoint(body) {
      const read = readRequest(body);
      if ("status" in read) return read;
      const { request, claimed } = read;
      const keys = logs.filter((key) => key.name === claimed.origin);
      if (keys.length === 0) return refuse(404, "this witness does not know the log");
      let checkpoint: OpenedCheckpoint;
      try {
        checkpoint = await openCheckpoint(request.checkpoint, keys, verifyEd25519);
      } catch (error) {
        if (!isCountersignError(error)) throw error;
        return refuse(403, "no valid signature of a known key of the log");
      }
      const { origin } = checkpoint;
      if (request.old > checkpoint.size) {
        return { ...refuse(400, "the old size is larger than the checkpoint"), origin };
      }
      const response = await inTurn(origin, () => cosign(request, checkpoint));
      return { ...response, origin };
    },
    async newest(hash) {
      const origin = known.get(hash);
      return origin === undefined ? undefined : state.read(origin);
    },
  };
}

/** Two different trees of one size. */
function isFork(seen: Pick<Checkpoint, "size" | "root">, submitted: Checkpoint): boolean {
  return seen.size === submitted.size && !verifyConsistency(seen, submitted, []);
}

/** One signature of the log: a stranger can repeat its line, and a note has room for few. */
function logLineOf({ note }: OpenedCheckpoint): NoteSignature {
  const line = note.signatures.find(({ name, keyId }) =>
    note.signers.some((key) => key.name === name && Buffer.compare(key.id, keyId) === 0),
  );
  if (line === undefined) throw new TypeError("an opened checkpoint has a signature of its log");
  return line;
}

function readRequest(
  body: string,
): { request: AddCheckpoint; claimed: Checkpoint } | WitnessResponse {
  try {
    const request = decodeAddCheckpoint(body);
    return { request, claimed: parseCheckpoint(parseNote(request.checkpoint).text) };
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return refuse(400, error.message);
  }
}
