import { join } from "node:path";
import { CountersignError, isCountersignError } from "@countersign/core";
import { createSigner } from "@countersign/core/sign";
import type { Ed25519Key } from "@countersign/core/sign";
import { readKey } from "@countersign/gateway";
import { createNoteKey, encodeVkey, NOTE_COSIGNATURE, parseVkey } from "@countersign/receipts";
import { pathExists } from "../../files/path-exists.js";
import { readText } from "../../files/read-file.js";
import "../errors.js";

/** Files of a witness. */
export const WITNESS_FILES = {
  key: "witness.pem",
  name: "name",
  logs: "logs",
  state: "state",
} as const;

/** The default directory. */
export const WITNESS_DIRECTORY = "witness";

/** The identity of a witness and the logs that it accepts. */
export type WitnessDirectory = {
  readonly name: string;
  readonly key: Ed25519Key;
  /** Its vkey, for the configuration of a gateway and for verifiers. */
  readonly vkey: string;
  readonly logs: readonly ReturnType<typeof parseVkey>[];
  /** The directory of the cosigned checkpoints. */
  readonly state: string;
};

/** Reads the directory of a witness; every part must be there. */
export async function readWitnessDirectory(directory: string): Promise<WitnessDirectory> {
  for (const part of Object.values(WITNESS_FILES)) {
    const file = join(directory, part);
    if (pathExists(file)) continue;
    throw new CountersignError(
      "ERR_CLI_NO_WITNESS",
      part === WITNESS_FILES.state && pathExists(join(directory, WITNESS_FILES.key))
        ? `${file} does not exist. A witness that forgot what it cosigned must not sign again. Fix: restore the newest copy, or make a new witness with a new key`
        : `${file} does not exist. Fix: make a witness with countersign witness init, or name its directory`,
      { directory },
    );
  }
  const name = readText(join(directory, WITNESS_FILES.name)).trim();
  const key = await readKey(join(directory, WITNESS_FILES.key));
  return {
    name,
    key,
    vkey: vkeyOf(name, key),
    logs: readLogs(join(directory, WITNESS_FILES.logs)),
    state: join(directory, WITNESS_FILES.state),
  };
}

/** The vkey of a witness. */
export function vkeyOf(name: string, key: Ed25519Key): string {
  return encodeVkey(createNoteKey(name, createSigner(key).publicKey, NOTE_COSIGNATURE));
}

/** The accepted logs: one vkey per line, `#` begins a comment. */
function readLogs(file: string): ReturnType<typeof parseVkey>[] {
  const lines = readText(file).split("\n");
  return lines.flatMap((line, index) => {
    const text = line.replace(/#.*$/, "").trim();
    if (text === "") return [];
    const key = readLogKey(text);
    if (typeof key !== "string") return [key];
    throw new CountersignError(
      "ERR_CLI_WITNESS_LOGS",
      `${file}:${index + 1}: ${key}. Fix: write the vkey of a log, as countersign keys show prints it`,
      { file, line: index + 1 },
    );
  });
}

/** The key of a log, or why it is none. */
function readLogKey(text: string): ReturnType<typeof parseVkey> | string {
  try {
    const key = parseVkey(text);
    return key.type === NOTE_COSIGNATURE ? "this is the key of a witness" : key;
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return error.message;
  }
}
