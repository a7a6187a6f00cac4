import type { JsonValue } from "@countersign/core";
import type { A2uiSurface } from "../a2ui/surface.js";
import type {
  RemovedComponent,
  SurfaceComponent,
  SurfaceFunctionCall,
  SurfaceInfo,
  SurfaceLimits,
} from "../base/facts.js";
import { Problems } from "../base/problems.js";
import { Work } from "../base/work.js";

/** The operations of a payload, which are judged again as other clients draw them. */
export interface Applied {
  readonly operations: readonly {
    readonly operations: readonly JsonValue[];
    readonly place: string;
  }[];
  readonly sourceId: string;
  readonly agent: string | undefined;
  /** The payload leaves out what its message drew before: a page that is opened later draws it alone. */
  readonly leavesOut: boolean;
}

/** The changes of one payload, and how to take them back. */
export class Changes {
  readonly problems: Problems;
  /** The subagent that sends the payload. */
  agent: string | undefined;
  isSurface = false;
  readonly components: SurfaceComponent[] = [];
  readonly removed: RemovedComponent[] = [];
  /** Surfaces with components that were deleted, by id and source. */
  readonly deleted = new Set<string>();
  readonly infos = new Map<unknown, SurfaceInfo>();
  readonly functionCalls: SurfaceFunctionCall[] = [];
  applied: Applied | undefined;
  /** Surfaces to bring up to date. */
  readonly touched = new Set<A2uiSurface>();
  /** The touched surfaces that were brought up to date, and the deleted ones. */
  readonly collected = new Set<A2uiSurface>();
  readonly work: Work;
  readonly #limits: SurfaceLimits;
  readonly #total: Work;
  readonly #reverts: (() => void)[] = [];

  /** @param total what all payloads together may cost */
  constructor(problems: Problems, limits: SurfaceLimits, total: Work) {
    this.problems = problems;
    this.work = new Work(limits.maxDrawnLength, limits.maxSteps, total);
    this.#total = total;
    this.#limits = limits;
  }

  /** Notes how to take back what was just done. */
  onUndo(revert: () => void): void {
    this.#reverts.push(revert);
  }

  undo(): void {
    for (const revert of this.#reverts.splice(0).toReversed()) revert();
    // The earlier drawing can take longer than the new one. A surface that takes too long is not shown until its next event.
    const { maxDrawnLength, maxSteps } = this.#limits;
    const work = new Work(maxDrawnLength, maxSteps, this.#total);
    for (const surface of new Set([...this.collected, ...this.touched]))
      surface.collect(new Problems(1), work);
  }
}
