import type { JsonObject, SmallMap } from "@countersign/core";
import type { SurfaceComponent, SurfaceFacts, SurfaceInfo } from "@countersign/surface";
import type { StoredRow } from "../store/keyed-store.js";
import { digestOf } from "./digest.js";
import { PendingRows } from "./pending-rows.js";
import type { TraceWrite } from "./pending-rows.js";

/** What the ledger keeps of one surface: ids, names and keys, never a value. A row of the kind `surface`. */
export type SurfaceState = {
  readonly surfaceId: string;
  /** The message or call that it came with. */
  readonly sourceId: string;
  /** Grows with each change of a surface of the thread: the smallest one is the oldest. */
  readonly changed: number;
  /** Only of an MCP App. */
  readonly app?: { readonly uri: string; readonly serverId?: string; readonly serverHash?: string };
  readonly actions?: readonly ActionState[];
  /** Functions that a page does not have, by component: an A2UI 1.0 page asks the agent to run them. */
  readonly functions?: readonly { readonly id: string; readonly name: string }[];
};

/** An action of one component, with the uses of it. */
export type ActionState = {
  /** The id of the component within its surface. */
  readonly id: string;
  /** `a2ui:Button`. */
  readonly type: string;
  readonly name: string;
  readonly keys: readonly string[];
  /** True when a list draws the component: it can be clicked once for each item. */
  readonly isListed?: true;
  /** Digests of what the person sees and sends, one for each place where the component is drawn. */
  readonly drawn: readonly string[];
  /** The number of digests since `showing` began: that many uses are possible. */
  readonly count: number;
  /** Another value as soon as nothing of what the person saw is left. */
  readonly showing: string;
  /** Digests of the contexts that it was used with in this showing. */
  readonly uses?: readonly string[];
};

/** Surfaces that a thread keeps; the oldest go first. */
export const MAX_SURFACES = 256;
/** Characters of one surface's row as JSON. What does not fit cannot be clicked. */
export const MAX_SURFACE_LENGTH = 64 * 1024;
/** Characters of all rows of a thread together; the oldest surfaces go first. */
export const MAX_SURFACES_LENGTH = 1024 * 1024;
/** Characters of an id, a name or a key; a component with a longer one cannot be clicked. */
const MAX_NAME = 256;
/** Characters of the URI of an MCP App. */
const MAX_URI = 2048;
/** Places of one component whose digests are kept one by one. */
const MAX_DRAWN = 64;
/** Characters of a digest in a row: the ledger compares them within one component only. */
const DIGEST = 16;

/** A component of the open run that a person can click, with its places. */
type Part = {
  readonly type: string;
  readonly actions: readonly { readonly name: string; readonly keys: readonly string[] }[];
  readonly functions: readonly string[];
  readonly isListed: boolean;
  readonly hash: string;
};

/** A surface that the open run shows. */
type Draft = {
  readonly surfaceId: string;
  readonly sourceId: string;
  app: SurfaceState["app"];
  /** By component id, then by scope. */
  readonly parts: Map<string, Map<string, Part>>;
};

/**
 * Records the surfaces that one run shows and removes, as rows for the ledger of its thread.
 *
 * The caller reports the facts of events that are delivered, in order and before they are delivered, and writes the rows of `take` before.
 */
export class ShownSurfaces {
  readonly #surfaces: SmallMap<string, SurfaceState>;
  readonly #runId: string;
  readonly #pending = new PendingRows();
  readonly #drafts = new Map<string, Draft>();
  #changed: number;
  #showings = 0;

  /** @param surfaces the surfaces of the thread; changed in place */
  constructor(surfaces: SmallMap<string, SurfaceState>, runId: string) {
    this.#surfaces = surfaces;
    this.#runId = runId;
    this.#changed = Math.max(0, ...Array.from(surfaces, ([, { changed }]) => changed));
  }

  /** Records what a delivered event shows and removes. */
  see(facts: SurfaceFacts): void {
    const touched = new Set<string>();
    for (const info of facts.surfaces) {
      const key = surfaceKey(info.sourceId, info.surfaceId);
      if (info.change === "deleted") {
        this.#drop(key);
        touched.delete(key);
      } else if (this.#open(key, info)) touched.add(key);
    }
    for (const { surfaceId, sourceId, componentId, scope } of facts.removed) {
      const key = surfaceKey(sourceId, surfaceId);
      const id = componentId.slice(surfaceId.length + 1);
      const places = this.#drafts.get(key)?.parts.get(id);
      if (places?.delete(scope) === true) touched.add(key);
    }
    for (const component of facts.components) {
      const { surfaceId, sourceId } = component;
      const key = surfaceKey(sourceId, surfaceId);
      if (this.#draw(key, component)) touched.add(key);
    }
    for (const key of touched) this.#save(key);
  }

  /** Records that the client has no longer what these messages or calls showed. */
  removed(sourceIds: readonly string[]): void {
    const gone = new Set(sourceIds);
    this.#dropWhere((_, { sourceId }) => gone.has(sourceId));
  }

  /**
   * Records that a delivered event replaced a message that an earlier run drew: what this run did not draw again is
   * gone. Called after `see`.
   */
  replaced(sourceId: string): void {
    this.#dropWhere((key, surface) => surface.sourceId === sourceId && !this.#drafts.has(key));
  }

  /** Returns the changes since the last call; `undefined` when there are none. */
  take(): TraceWrite | undefined {
    return this.#pending.take();
  }

  #open(key: string, { surfaceId, sourceId, kind, app }: SurfaceInfo): boolean {
    if (kind === "html-sandbox" || (kind === "mcp-app" && app === undefined)) return false;
    if (surfaceId.length > MAX_NAME || sourceId.length > MAX_NAME) return false;
    const shown = app === undefined ? undefined : appOf(app);
    if (kind === "mcp-app" && shown === undefined) return false;
    const draft = this.#drafts.get(key);
    if (draft !== undefined) {
      draft.app = shown;
      return shown !== undefined;
    }
    this.#drafts.set(key, { surfaceId, sourceId, app: shown, parts: new Map() });
    return true;
  }

  /** Returns whether it changes what can be clicked. */
  #draw(key: string, component: SurfaceComponent): boolean {
    const { id, scope } = component;
    const draft = this.#drafts.get(key);
    const places = draft?.parts.get(id);
    const part = partOf(component);
    if (draft === undefined) return false;
    if (part === undefined) return places?.delete(scope) === true;
    if (places === undefined) draft.parts.set(id, new Map([[scope, part]]));
    else places.set(scope, part);
    return true;
  }

  #dropWhere(isGone: (key: string, surface: SurfaceState) => boolean): void {
    const gone = Array.from(this.#surfaces).filter(([key, surface]) => isGone(key, surface));
    for (const [key] of gone) this.#drop(key);
  }

  #drop(key: string): void {
    this.#drafts.delete(key);
    if (!this.#surfaces.has(key)) return;
    this.#surfaces.delete(key);
    this.#pending.remove({ kind: "surface", id: key });
  }

  #save(key: string): void {
    const draft = this.#drafts.get(key);
    if (draft === undefined) return;
    const { surfaceId, sourceId, app } = draft;
    const before = this.#surfaces.get(key);
    const head = { surfaceId, sourceId, changed: before?.changed ?? 0 };
    let length = JSON.stringify({ ...head, app }).length;
    const fits = (value: object): boolean =>
      (length += JSON.stringify(value).length + 1) <= MAX_SURFACE_LENGTH;
    const actions: ActionState[] = [];
    const functions: { id: string; name: string }[] = [];
    for (const [id, places] of draft.parts) {
      for (const action of this.#actionsOf(id, [...places.values()], before)) {
        if (fits(action)) actions.push(action);
      }
      const names = new Set([...places.values()].flatMap((part) => part.functions));
      for (const name of names) if (fits({ id, name })) functions.push({ id, name });
    }
    const state: SurfaceState = {
      ...head,
      ...(app === undefined ? {} : { app }),
      ...(actions.length === 0 ? {} : { actions }),
      ...(functions.length === 0 ? {} : { functions }),
    };
    if (app === undefined && actions.length === 0 && functions.length === 0) {
      // Nothing of it can be clicked; its draft stays for a later button.
      if (before === undefined) return;
      this.#surfaces.delete(key);
      this.#pending.remove({ kind: "surface", id: key });
      return;
    }
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(state)) return;
    const saved = { ...state, changed: (this.#changed += 1) };
    this.#surfaces.set(key, saved);
    this.#pending.put(surfaceRow(key, saved));
    this.#forgetOldest();
  }

  /** The actions of a component, with the uses of what is still there of it. */
  #actionsOf(id: string, places: readonly Part[], before: SurfaceState | undefined): ActionState[] {
    const [first] = places;
    if (first === undefined) return [];
    const drawn = drawnOf(places);
    return first.actions.map(({ name, keys }) => {
      const old = before?.actions?.find((one) => one.id === id && one.name === name);
      const known = new Set(old?.drawn);
      const isKept = old !== undefined && drawn.some((digest) => known.has(digest));
      const fresh = drawn.filter((digest) => !known.has(digest)).length;
      const count = drawn.length === 1 ? places.length : drawn.length;
      return {
        id,
        type: first.type,
        name,
        keys,
        ...(places.some((part) => part.isListed) ? { isListed: true as const } : {}),
        drawn,
        count: isKept ? old.count + fresh : count,
        showing: isKept ? old.showing : this.#nextShowing(),
        ...(isKept && old.uses !== undefined ? { uses: old.uses } : {}),
      };
    });
  }

  /** Ids of runs are unique on their thread, so no showing has the name of an earlier one. */
  #nextShowing(): string {
    this.#showings += 1;
    return digestOf([this.#runId, this.#showings]).slice(0, DIGEST);
  }

  #forgetOldest(): void {
    const surfaces = this.#surfaces;
    let length = 0;
    let isOver = surfaces.size > MAX_SURFACES;
    for (const [, state] of surfaces) length += JSON.stringify(state).length;
    isOver ||= length > MAX_SURFACES_LENGTH;
    if (!isOver) return;
    const oldest = [...surfaces].toSorted(([, one], [, other]) => one.changed - other.changed);
    for (const [key, state] of oldest) {
      if (surfaces.size <= MAX_SURFACES && length <= MAX_SURFACES_LENGTH) return;
      length -= JSON.stringify(state).length;
      this.#drop(key);
    }
  }
}

/** The row of a surface. */
export function surfaceRow(key: string, state: SurfaceState): StoredRow {
  return { kind: "surface", id: key, value: state as unknown as JsonObject };
}

/** Clients keep the surfaces of two messages apart, also under one id. */
function surfaceKey(sourceId: string, surfaceId: string): string {
  return digestOf([sourceId, surfaceId]);
}

function appOf(app: NonNullable<SurfaceInfo["app"]>): SurfaceState["app"] {
  const { resourceUri: uri, serverId, serverHash } = app;
  const names = [serverId ?? "", serverHash ?? ""];
  if (uri.length > MAX_URI || names.some((name) => name.length > MAX_NAME)) return undefined;
  return {
    uri,
    ...(serverId === undefined ? {} : { serverId }),
    ...(serverHash === undefined ? {} : { serverHash }),
  };
}

/** What a person can do with a component; `undefined` when nothing, or under names that are too long. */
function partOf(component: SurfaceComponent): Part | undefined {
  const { id, componentType, scope, subtreeHash } = component;
  const events = component.actions.filter(({ kind }) => kind === "event");
  const actions = events.map(({ name, contextKeys }) => ({ name, keys: contextKeys }));
  const functions = component.functionCalls
    .filter(({ isBasic }) => !isBasic)
    .map(({ name }) => name);
  if (actions.length === 0 && functions.length === 0) return undefined;
  const names = [
    id,
    componentType,
    ...functions,
    ...actions.flatMap((one) => [one.name, ...one.keys]),
  ];
  if (names.some((name) => name.length > MAX_NAME)) return undefined;
  return { type: componentType, actions, functions, isListed: scope !== "/", hash: subtreeHash };
}

/** One digest for each place; of many places one for all of them. */
function drawnOf(places: readonly Part[]): string[] {
  const hashes = [...new Set(places.map(({ hash }) => hash))].toSorted();
  if (hashes.length > MAX_DRAWN) return [digestOf(hashes).slice(0, DIGEST)];
  return hashes.map((hash) => hash.slice(0, DIGEST));
}
