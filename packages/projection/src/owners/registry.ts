import { diagnose } from "../base/diagnostic.js";
import type { Diagnostic } from "../base/diagnostic.js";
import type { OwnerProjector } from "./owner.js";
import { RUNTIME_OWNER } from "./runtime/project-runtime.js";
import { WORKSPACE_JOB_OWNER, WORKSPACE_OP_OWNER } from "./workspace.js";

/** Owners whose facts only this package projects. */
export const BUILT_IN_OWNERS: ReadonlySet<string> = new Set([
  RUNTIME_OWNER,
  WORKSPACE_JOB_OWNER,
  WORKSPACE_OP_OWNER,
]);

/** The projectors of the application, by owner. */
export class OwnerRegistry {
  /** Entries that were rejected. */
  readonly diagnostics: readonly Diagnostic[];
  readonly #projectors = new Map<string, OwnerProjector>();
  readonly #duplicated = new Set<string>();

  constructor(entries: readonly OwnerProjector[]) {
    const diagnostics: Diagnostic[] = [];
    for (const entry of entries) {
      const owner = entry.factOwnerRef;
      const place = { id: 0, kind: "", factOwnerRef: owner };
      if (typeof owner !== "string" || owner === "") throw new TypeError("an owner needs a name");
      if (typeof entry.projectSafeEvent !== "function") {
        throw new TypeError(`the projector of ${owner} has no projectSafeEvent`);
      }
      if (BUILT_IN_OWNERS.has(owner)) {
        const message = "a built-in owner cannot be replaced";
        diagnostics.push(forOwner(diagnose("ERR_PROJECTION_RESERVED_OWNER", message, place)));
      } else if (this.#duplicated.has(owner) || this.#projectors.has(owner)) {
        // No silent first-wins: the right one of the two is unknown.
        this.#projectors.delete(owner);
        this.#duplicated.add(owner);
        const message = "the owner is listed twice, none of its projectors is used";
        diagnostics.push(forOwner(diagnose("ERR_PROJECTION_DUPLICATE_OWNER", message, place)));
      } else this.#projectors.set(owner, entry);
    }
    this.diagnostics = diagnostics;
  }

  find(owner: string): OwnerProjector | undefined {
    return this.#projectors.get(owner);
  }

  isDuplicated(owner: string): boolean {
    return this.#duplicated.has(owner);
  }
}

function forOwner({ code, message, owner }: Diagnostic): Diagnostic {
  return owner === undefined ? { code, message } : { code, message, owner };
}
