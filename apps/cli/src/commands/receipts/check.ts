import { stat } from "node:fs/promises";
import { join } from "node:path";
import {
  canonicalJson,
  CountersignError,
  isCountersignError,
  isJsonObject,
  parseJson,
} from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { KEY_FILES } from "@countersign/gateway";
import { parseKeyHistory } from "@countersign/receipts";
import { createDirectoryReader } from "@countersign/receipts/export";
import { readEntriesFrom } from "@countersign/receipts/log";
import type { ReceiptStore } from "@countersign/receipts/log";
import { verifyEntry, verifyProof, verifyReceipt } from "@countersign/receipts/verify";
import type { Verification } from "@countersign/receipts/verify";
import {
  conclude,
  createFileDuplicateFinder,
  verificationOfDamage,
  verifyTail,
  verifyExportDirectory,
  verifyReceiptLines,
  verifyStored,
} from "@countersign/receipts/verify-node";
import type { DirectoryOptions } from "@countersign/receipts/verify-node";
import { pathExists } from "../../files/path-exists.js";
import { readBytes, readText } from "../../files/read-file.js";
import { createProgress } from "../../output/progress.js";
import "../errors.js";
import {
  checkRun,
  checkRunInExport,
  checkRunInStatements,
  checkStatement,
  checkStatements,
  isStatement,
  isStatementExport,
} from "./check-statements.js";
import { exportStore } from "./export.js";
import { withTemporaryDirectory } from "./interrupt.js";
import { checkParts, checkUncommitted, isOfEmptyLog, wasWritten } from "./parts.js";
import { isStoreDirectory, storeDirectory, withStore } from "./location.js";
import type { Location } from "./location.js";
import { missing, readInput } from "./input.js";
import { readKeptCheckpoint, withGrowth } from "./kept-checkpoint.js";
import { askWitnesses, checkNewest } from "./newest-of-witness.js";
import type { WitnessAnswer } from "./newest-of-witness.js";
import type { Trust } from "./trust.js";

/** Files that go with a single receipt or entry. */
export type AdjacentFiles = {
  readonly event?: string;
  readonly proof?: string;
  /** An export or a store that must have the run of a statement. */
  readonly against?: string;
};

/** How a file ends that holds a receipt on each line. */
const LINES = ".jsonl";
/** How the file of a transparent statement ends, also if its first byte was changed. */
const STATEMENT = ".scitt";
/** More than a bundle of entries has. */
const MAX_TILE = 256 * 1024 * 1024;
const EXPORT_MARKS = ["checkpoint", "tile", "receipts.jsonl"];

/** What a log is compared with. */
export type CheckOptions = {
  /** A checkpoint that the log must go on from. */
  readonly older?: string;
  /** Witnesses whose newest checkpoint the log must contain. */
  readonly witnessUrls?: readonly string[];
  /** Their responses, when they were asked before. */
  readonly answers?: readonly WitnessAnswer[];
};

function ask(
  { witnessUrls = [] }: CheckOptions,
  vkeyFile: string,
  { trustedLogs }: Trust,
): Promise<WitnessAnswer[]> {
  if (witnessUrls.length === 0) return Promise.resolve([]);
  return askWitnesses(witnessUrls, readText(vkeyFile).trim(), trustedLogs);
}

/** Verifies an export directory, on all cores; `older` is a checkpoint that its log must go on from. */
export async function checkExport(
  directory: string,
  trust: Trust,
  options: CheckOptions & Pick<DirectoryOptions, "duplicates"> = {},
): Promise<Verification> {
  const { older, duplicates } = options;
  if (isStatementExport(directory)) {
    const isOfLog =
      older !== undefined ||
      trust.witnesses !== undefined ||
      trust.verifyTimestamp !== undefined ||
      (options.witnessUrls ?? []).length > 0;
    if (!isOfLog) return checkStatements(directory, trust);
    throw new TypeError(
      "--older, --witness and --tsa-ca are for an export of the log. Fix: verify the statements without them, or export the log without --cose",
    );
  }
  if (!EXPORT_MARKS.some((name) => pathExists(join(directory, name)))) {
    throw new CountersignError(
      "ERR_CLI_NO_EXPORT",
      `${directory} is not an export. Fix: write one with countersign receipts export`,
      { directory },
    );
  }
  const answers = options.answers ?? (await ask(options, join(directory, KEY_FILES.vkey), trust));
  let progress: ReturnType<typeof createProgress> | undefined;
  try {
    const result = await verifyExportDirectory(directory, {
      ...trust,
      ...(duplicates !== undefined && { duplicates }),
      ...(older !== undefined && { older: await withGrowth(directory, older) }),
      onProgress: (done, total) => {
        progress ??= createProgress("verifying", total);
        progress.update(done);
      },
    });
    const vkey = answers.length === 0 ? "" : readText(join(directory, KEY_FILES.vkey)).trim();
    const asked = await Promise.all(answers.map((one) => checkNewest(one, directory, vkey)));
    return asked.length === 0 ? result : conclude([...result.checks, ...asked], result.signers);
  } finally {
    progress?.finish();
  }
}

/**
 * Verifies a live store as an auditor would: exported first, then from the files alone. What lies
 * behind the last checkpoint is verified too, and told apart. The log must go on from an older checkpoint: the one that is given, or
 * the one beside the keys. A log with entries must have everything beside it that proves them.
 */
export async function checkStore(
  place: Location,
  trust: Trust,
  options: CheckOptions = {},
): Promise<Verification> {
  const { older } = options;
  // A running gateway has its checkpoints cosigned while the log is read.
  const answers = await ask(options, join(place.keyDirectory, KEY_FILES.vkey), trust);
  const kept = readKeptCheckpoint(place);
  const remembered = older ?? kept;
  const directory = storeDirectory(place);
  let isBegun = directory !== undefined && wasWritten(directory);
  const result = await withStore(place, async (store) => {
    isBegun ||= (await store.head()).size > 0;
    return checkOpenStore(store, place, trust, {
      ...options,
      answers,
      ...(remembered !== undefined && { older: remembered }),
    });
  }).catch((error: unknown) => {
    const damage = verificationOfDamage(
      remembered === undefined ? error : withoutLog(error, place),
    );
    return damage ?? { unseen: error };
  });
  const parts = checkParts(place, {
    isBegun,
    hasOlder: older !== undefined,
    remembered: kept,
  });
  if ("unseen" in result) {
    if (parts?.status !== "failed") throw result.unseen;
    return conclude([parts], []);
  }
  return parts === undefined ? result : conclude([...result.checks, parts], result.signers);
}

function checkOpenStore(
  store: ReceiptStore,
  place: Location,
  trust: Trust,
  options: CheckOptions,
): Promise<Verification> {
  const { older: remembered } = options;
  return withTemporaryDirectory("countersign-verify-", async (folder) => {
    const directory = join(folder, "export");
    const duplicates = createFileDuplicateFinder();
    const { read } = createDirectoryReader(directory);
    try {
      const beginning = remembered !== undefined && isOfEmptyLog(remembered);
      const size = await exportStore(store, place, directory, beginning ? { remembered } : {});
      const exported = await checkExport(directory, trust, { ...options, duplicates });
      const covered = await verifyStored(exported, size, store, (path) => read(path, MAX_TILE));
      // Broken, it failed above already.
      const keys = covered.checks.find(({ id }) => id === "key-history");
      const history =
        keys?.status === "held"
          ? parseKeyHistory(readText(join(directory, KEY_FILES.history)))
          : undefined;
      const all = await verifyTail(covered, size, readEntriesFrom(store, size), {
        ...trust,
        ...(history && { history }),
        duplicates,
      });
      const uncommitted = await checkUncommitted(store);
      return uncommitted === undefined ? all : conclude([...all.checks, uncommitted], all.signers);
    } finally {
      await duplicates.close();
    }
  });
}

/** Codes for a missing log, and for one without a checkpoint. */
const NO_LOG: ReadonlySet<string> = new Set([
  "ERR_CLI_NO_STORE",
  "ERR_CLI_NO_CHECKPOINT",
  "ERR_STORE_ABSENT",
]);

/** Beside a checkpoint that was kept, a log that is not there is one that was lost. */
function withoutLog(error: unknown, { origin }: Location): unknown {
  if (!isCountersignError(error) || !NO_LOG.has(error.code)) return error;
  return new CountersignError(
    "ERR_LOG_INCONSISTENT",
    `the store does not contain the log ${origin}, for which a checkpoint was signed`,
    { size: 0, reason: error.code },
  );
}

/** Verifies a file of receipts, a statement, or one receipt or entry with its proof and the auditor's own copy of the event. */
export async function checkFile(
  file: string,
  companions: AdjacentFiles,
  trust: Trust,
): Promise<Verification> {
  if (file.endsWith(LINES) && companions.proof === undefined && companions.event === undefined) {
    return verifyReceiptLines(file, trust);
  }
  const bytes = readBytes(file);
  if (isStatement(bytes) || file.endsWith(STATEMENT)) return checkStatement(bytes, trust);
  const text = bytes.toString("utf8");
  if (isEnvelope(text)) return checkRunFile(text, companions.against, trust);
  const event =
    companions.event === undefined ? undefined : parseJson(await readInput(companions.event));
  const options = { ...trust, ...(event === undefined ? {} : { event }) };
  const entry = entryBytes(text);
  if (companions.proof !== undefined) {
    if (entry === undefined) {
      throw new CountersignError(
        "ERR_CLI_NOT_ENTRY",
        `${file} is not a log entry, and a proof needs one. Fix: write the entry with countersign receipts show SEQ --json`,
        { file },
      );
    }
    if (trust.trustedLogs === undefined) {
      throw new CountersignError(
        "ERR_CLI_NO_LOG_KEY",
        "a proof can be verified only with the key of the log. Fix: add --log-key",
        {},
      );
    }
    return verifyProof(await readInput(companions.proof), entry, options);
  }
  return entry === undefined ? verifyReceipt(text, options) : verifyEntry(entry, options);
}

/** Whether a text is a DSSE envelope, well-formed or not. */
function isEnvelope(text: string): boolean {
  try {
    const value = parseJson(text);
    return isJsonObject(value) && Object.hasOwn(value, "payloadType");
  } catch {
    return false;
  }
}

async function checkRunFile(
  text: string,
  against: string | undefined,
  trust: Trust,
): Promise<Verification> {
  if (against === undefined) return checkRun(text, trust);
  if (isStatementExport(against)) return checkRunInStatements(text, against, trust);
  if ((await kindOf(against)) === "directory") {
    return checkRunInExport(text, against, trust, await checkExport(against, trust));
  }
  throw new TypeError(
    "--against needs an export. Fix: write one with countersign receipts export DIRECTORY, and name it",
  );
}

/** Whether a path is a directory, and of which kind. */
export async function kindOf(path: string): Promise<"store" | "directory" | "file"> {
  if (!pathExists(path)) throw missing(path);
  if (!(await stat(path)).isDirectory()) return "file";
  return isStoreDirectory(path) ? "store" : "directory";
}

/** The leaf bytes of an entry, however its file was formatted; undefined when it is not an entry. */
function entryBytes(text: string): Uint8Array | undefined {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, "receipt")
    ? new TextEncoder().encode(canonicalJson(value))
    : undefined;
}
