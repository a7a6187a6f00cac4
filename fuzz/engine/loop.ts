import type { Coverage } from "./coverage.js";
import { mutate } from "./mutate.js";
import { createRandom } from "./random.js";
import type { FuzzTarget } from "./target.js";

/** An input that violates the property of its target. */
export type Finding = { readonly input: Uint8Array; readonly reason: string };

/** What a run of one target did. */
export type FuzzReport = {
  readonly target: string;
  readonly inputs: number;
  /** Inputs kept because they reached new blocks; the seeds are among them. */
  readonly corpus: number;
  /** Functions that ran, and how often an input reached more of one; 0 without coverage. */
  readonly features: number;
  readonly findings: readonly Finding[];
};

/** How a target is run. */
export type FuzzOptions = {
  readonly seed: number;
  readonly inputs: readonly Uint8Array[];
  /** Whether to go on, asked after each batch. */
  isOver(inputs: number): boolean;
  /** Without it every input of the first round is kept, and no other. */
  readonly coverage?: Coverage;
  /** Findings with different reasons after which the run ends; 1 by default. */
  readonly maxFindings?: number;
  onProgress?(report: Omit<FuzzReport, "findings"> & { readonly findings: number }): void;
  /** Called for an input that is worth keeping. */
  onKept?(input: Uint8Array): void;
};

const DEFAULT_MAX_BYTES = 2048;
/** Inputs between two looks at the coverage, more while nothing is new: a look costs as much as many small inputs. */
const SMALLEST_BATCH = 32;
const LARGEST_BATCH = 256;
/** Executed blocks an input may cost, whatever its size, and for each of its bytes. */
const WORK_BASE = 3_000_000;
const WORK_PER_BYTE = 20_000;
/** Milliseconds after which one input is a finding: work inside of V8 (regular expressions) is not counted in blocks. */
const SLOW_MS = 2000;

/** Runs a target until it is over, keeps inputs that reach new blocks, and returns what it found. */
export async function fuzz(target: FuzzTarget, options: FuzzOptions): Promise<FuzzReport> {
  const { coverage } = options;
  // What ran before counts for no input.
  coverage?.look(false);
  const random = createRandom(options.seed);
  const corpus: Uint8Array[] = [];
  const words = (target.dictionary ?? []).map((word) => new TextEncoder().encode(word));
  const findings = new Map<string, Finding>();
  const maxBytes = target.maxBytes ?? DEFAULT_MAX_BYTES;
  const most = options.maxFindings ?? 1;
  let inputs = 0;

  const tryOne = async (input: Uint8Array): Promise<void> => {
    inputs++;
    const reason = await findFault(target, input);
    if (reason !== undefined && !findings.has(reason)) findings.set(reason, { input, reason });
  };
  /** Runs inputs; those that reach something new are found by halves. Returns whether there was one. */
  const tryAll = async (batch: readonly Uint8Array[]): Promise<boolean> => {
    for (const input of batch) await tryOne(input);
    if (coverage === undefined) return false;
    const [only] = batch;
    const isAlone = batch.length === 1 && only !== undefined;
    const { isNew, work } = coverage.look(isAlone);
    const bytes = batch.reduce((sum, input) => sum + input.length, 0);
    const isTooMuch = work > WORK_BASE + WORK_PER_BYTE * bytes;
    if (!isNew && !isTooMuch) return false;
    if (!isAlone) {
      const middle = batch.length >> 1;
      const first = await tryAll(batch.slice(0, middle));
      return (await tryAll(batch.slice(middle))) || first;
    }
    if (isTooMuch) {
      const reason = "too much work for the size of the input";
      if (!findings.has(reason)) findings.set(reason, { input: only, reason });
    }
    if (!isNew) return false;
    corpus.push(only);
    options.onKept?.(only);
    return true;
  };

  if (coverage === undefined) corpus.push(...options.inputs);
  await tryAll(options.inputs);
  if (corpus.length === 0) corpus.push(new Uint8Array());
  const report = () => ({
    target: target.name,
    inputs,
    corpus: corpus.length,
    features: coverage?.known ?? 0,
  });
  let size = SMALLEST_BATCH;
  while (findings.size < most && !options.isOver(inputs)) {
    const batch = Array.from({ length: size }, () => {
      // Later inputs are the ones that reached something last.
      const newest = random.below(2) === 0 ? Math.min(corpus.length, 16) : corpus.length;
      const base = corpus[corpus.length - 1 - random.below(newest)] ?? new Uint8Array();
      return mutate(base, random, { corpus, words }, maxBytes);
    });
    const found = await tryAll(batch);
    size = found ? SMALLEST_BATCH : Math.min(LARGEST_BATCH, size * 2);
    options.onProgress?.({ ...report(), findings: findings.size });
  }
  return { ...report(), findings: [...findings.values()].slice(0, most) };
}

/** Why an input violates the property; undefined when it does not. */
export async function findFault(
  target: FuzzTarget,
  input: Uint8Array,
): Promise<string | undefined> {
  const started = performance.now();
  try {
    const pending = target.run(input);
    if (pending !== undefined) await pending;
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
  const took = performance.now() - started;
  return took > SLOW_MS ? `slow: more than ${SLOW_MS} ms` : undefined;
}

/** Removes what a finding does not need: halves first, then single bytes, for a bounded number of tries. */
export async function shrink(target: FuzzTarget, { input, reason }: Finding): Promise<Uint8Array> {
  const kind = reason.slice(0, 24);
  let smallest = input;
  let tries = 2000;
  for (let size = Math.ceil(input.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let start = 0; start < smallest.length && tries > 0; tries--) {
      const shorter = new Uint8Array([
        ...smallest.subarray(0, start),
        ...smallest.subarray(start + size),
      ]);
      const fault = await findFault(target, shorter);
      if (fault?.startsWith(kind) === true) smallest = shorter;
      else start += size;
    }
  }
  return smallest;
}
