import type { JsonObject, SmallMap } from "@countersign/core";
import type { SurfaceComponent, SurfaceFacts, SurfaceInfo } from "@countersign/surface";
import type { StoredRow } from "../store/keyed-store.js";
import { digestOf } from "./digest.js";
import { PendingRows } from "./pending-rows.js";
import type { TraceWrite } from "./pending-rows.js";

/** The record of one surface in the ledger: ids, names and keys, never a value. A row of the kind `surface`. */
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
/** Surfaces of the open run that are followed until they have a button; then the oldest without one is forgotten. */
export const MAX_DRAFTS = 1024;
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

/** The part of one component in the row of its surface. */
type Entry = {
  readonly actions: readonly ActionState[];
  readonly functions: readonly string[];
  readonly length: number;
};

/** A surface that the open run shows. */
type Draft = {
  readonly surfaceId: string;
  readonly sourceId: string;
  app: SurfaceState["app"];
  /** By component id, then by scope. */
  readonly parts: Map<string, Map<string, Part>>;
  readonly entries: Map<string, Entry>;
  /** The row of an earlier run, until the first event of this run is recorded. */
  earlier: SurfaceState | undefined;
};

/** The components of each surface that an event changed. */
type Touched = Map<string, Set<string>>;

/**
 * Records the surfaces that one run shows and removes, as rows for the ledger of its thread.
 *
 * The caller reports the facts of events that are delivered, in order and before they are delivered, and writes the rows of `take` before.
 * An event costs what it changes, and at most one row per surface.
 */
export class ShownSurfaces {
  readonly #surfaces: SmallMap<string, SurfaceState>;
  readonly #runId: string;
  readonly #pending = new PendingRows();
  readonly #drafts = new Map<string, Draft>();
  /** Characters of each row, and of all. */
  readonly #lengths = new Map<string, number>();
  #length = 0;
  #changed = 0;
  #showings = 0;

  /** @param surfaces the surfaces of the thread; changed in place */
  constructor(surfaces: SmallMap<string, SurfaceState>, runId: string) {
    this.#surfaces = surfaces;
    this.#runId = runId;
    for (const [key, state] of surfaces) {
      this.#changed = Math.max(this.#changed, state.changed);
      this.#measure(key, JSON.stringify(state).length);
    }
  }

  /** Records what a delivered event shows and removes. */
  see(facts: SurfaceFacts): void {
    const touched: Touched = new Map();
    for (const info of facts.surfaces) {
      const key = surfaceKey(info.sourceId, info.surfaceId);
      if (info.change === "deleted") {
        this.#drop(key);
        touched.delete(key);
      } else if (this.#open(key, info)) touched.set(key, new Set());
    }
    for (const { surfaceId, sourceId, componentId, scope } of facts.removed) {
      const key = surfaceKey(sourceId, surfaceId);
      const id = componentId.slice(surfaceId.length + 1);
      const places = this.#drafts.get(key)?.parts.get(id);
      if (places?.delete(scope) === true) touch(touched, key, id);
    }
    for (const component of facts.components) {
      const { surfaceId, sourceId, id } = component;
      const key = surfaceKey(sourceId, surfaceId);
      if (this.#draw(key, component)) touch(touched, key, id);
    }
    for (const [key, ids] of touched) this.#save(key, ids);
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

  /** Returns whether the surface is new in this run, or is an app. */
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
    this.#drafts.set(key, {
      surfaceId,
      sourceId,
      app: shown,
      parts: new Map(),
      entries: new Map(),
      earlier: this.#surfaces.get(key),
    });
    this.#forgetDraft();
    return true;
  }

  /** A run may show any number of surfaces without a button. */
  #forgetDraft(): void {
    if (this.#drafts.size <= MAX_DRAFTS) return;
    for (const key of this.#drafts.keys()) {
      if (this.#surfaces.has(key)) continue;
      this.#drafts.delete(key);
      return;
    }
  }

  /** Returns whether it changes what can be clicked. */
  #draw(key: string, component: SurfaceComponent): boolean {
    const { id, scope } = component;
    const draft = this.#drafts.get(key);
    if (draft === undefined) return false;
    const places = draft.parts.get(id);
    const part = partOf(component);
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
    this.#remove(key);
  }

  #remove(key: string): void {
    if (!this.#surfaces.has(key)) return;
    this.#surfaces.delete(key);
    this.#measure(key, 0);
    this.#pending.remove({ kind: "surface", id: key });
  }

  #save(key: string, ids: ReadonlySet<string>): void {
    const draft = this.#drafts.get(key);
    if (draft === undefined) return;
    const { parts, entries, earlier } = draft;
    for (const id of ids) {
      const places = [...(parts.get(id)?.values() ?? [])];
      const known = earlier?.actions?.filter((one) => one.id === id) ?? entries.get(id)?.actions;
      if (places.length > 0) entries.set(id, this.#entryOf(id, places, known));
      else {
        parts.delete(id);
        entries.delete(id);
      }
    }
    draft.earlier = undefined;
    const state = stateFrom(draft);
    // Nothing of it can be clicked; its draft stays for a later button.
    if (state === undefined) return this.#remove(key);
    const before = this.#surfaces.get(key);
    const text = JSON.stringify({ ...state, changed: before?.changed });
    if (before !== undefined && JSON.stringify(before) === text) return;
    const saved = { ...state, changed: (this.#changed += 1) };
    this.#surfaces.set(key, saved);
    this.#measure(key, text.length);
    this.#pending.put(surfaceRow(key, saved));
    this.#forgetOldest();
  }

  /** The actions of a component, with the uses of what is still there of it. */
  #entryOf(id: string, places: readonly Part[], known: readonly ActionState[] = []): Entry {
    const [first] = places as [Part];
    const drawn = drawnOf(places);
    const isListed = places.some((part) => part.isListed);
    const actions = first.actions.map(({ name, keys }): ActionState => {
      const old = known.find((one) => one.name === name);
      const digests = new Set(old?.drawn);
      const isKept = old !== undefined && drawn.some((digest) => digests.has(digest));
      const fresh = drawn.filter((digest) => !digests.has(digest)).length;
      const count = drawn.length === 1 ? places.length : drawn.length;
      return {
        id,
        type: first.type,
        name,
        keys,
        ...(isListed ? { isListed } : {}),
        drawn,
        count: isKept ? old.count + fresh : count,
        showing: isKept ? old.showing : this.#nextShowing(),
        ...(isKept && old.uses !== undefined ? { uses: old.uses } : {}),
      };
    });
    const functions = [...new Set(places.flatMap((part) => part.functions))];
    return { actions, functions, length: JSON.stringify([actions, functions]).length };
  }

  /** Ids of runs are unique on their thread, so no showing has the name of an earlier one. */
  #nextShowing(): string {
    this.#showings += 1;
    return digestOf([this.#runId, this.#showings]).slice(0, DIGEST);
  }

  #measure(key: string, length: number): void {
    this.#length += length - (this.#lengths.get(key) ?? 0);
    if (length === 0) this.#lengths.delete(key);
    else this.#lengths.set(key, length);
  }

  #forgetOldest(): void {
    const isOver = (): boolean =>
      this.#surfaces.size > MAX_SURFACES || this.#length > MAX_SURFACES_LENGTH;
    if (!isOver()) return;
    const oldest = [...this.#surfaces].toSorted(
      ([, one], [, other]) => one.changed - other.changed,
    );
    for (const [key] of oldest) {
      if (!isOver()) return;
      this.#drop(key);
    }
  }
}

function touch(touched: Touched, key: string, id: string): void {
  const ids = touched.get(key);
  if (ids === undefined) touched.set(key, new Set([id]));
  else ids.add(id);
}

/** The content of the row of a surface, within its length; `undefined` when nothing can be clicked. */
function stateFrom({ surfaceId, sourceId, app, entries }: Draft): SurfaceState | undefined {
  const head = { surfaceId, sourceId, changed: 0, ...(app === undefined ? {} : { app }) };
  let length = JSON.stringify(head).length;
  const actions: ActionState[] = [];
  const functions: { id: string; name: string }[] = [];
  for (const [id, entry] of entries) {
    if (length + entry.length > MAX_SURFACE_LENGTH) continue;
    length += entry.length;
    actions.push(...entry.actions);
    for (const name of entry.functions) functions.push({ id, name });
  }
  if (app === undefined && actions.length + functions.length === 0) return undefined;
  return {
    ...head,
    ...(actions.length === 0 ? {} : { actions }),
    ...(functions.length === 0 ? {} : { functions }),
  };
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

/** The actions of a component; `undefined` when nothing, or under names that are too long. */
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
