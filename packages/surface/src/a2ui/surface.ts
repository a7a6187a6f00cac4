import { isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type {
  RemovedComponent,
  SurfaceComponent,
  SurfaceDrawing,
  SurfaceLimits,
} from "../base/facts.js";
import { named } from "../base/problems.js";
import type { Work } from "../base/work.js";
import type { Problems } from "../base/problems.js";
import { DataModel, dataSegments } from "./data-model.js";
import type { Revert } from "./data-model.js";
import type { ChildReference, Definition } from "./definition.js";
import { describeInstance } from "./describe.js";
import { createInstance, instanceKey, isActing } from "./instance.js";
import type { Instance, SurfaceSettings } from "./instance.js";
import { readComponent } from "./read-component.js";
import { Readers, tokenOf, WrittenPaths } from "./readers.js";
import type { Read, Reading } from "./readers.js";
import { absolutePath, escapeSegment } from "./resolve.js";

/** The changes since the last collection. */
export interface SurfaceChanges {
  readonly components: SurfaceComponent[];
  readonly removed: RemovedComponent[];
}

/** The places that one reference draws its component for. */
interface ChildScopes {
  readonly count: number;
  /** Whether the place of an index never changes. */
  readonly isIndexed: boolean;
  at(index: number): string;
}

/** A component that is read counts as this many values. */
const COMPONENT_STEPS = 16;

/**
 * One A2UI surface: definitions and data, and the tree of drawn components, which follows each
 * change at a cost that depends on the change.
 */
export class A2uiSurface {
  readonly surfaceId: string;
  readonly sourceId: string;
  readonly isLegacy: boolean;
  readonly definitions = new Map<string, Definition>();
  readonly data: DataModel;
  /** Characters of the definitions. */
  #length = 0;
  readonly #limits: SurfaceLimits;
  readonly #instances = new Map<string, Instance>();
  readonly #byId = new Map<string, Set<Instance>>();
  readonly #waiting = new Map<string, Set<Instance>>();
  readonly #readers = new Readers<Instance>();
  readonly #inputPaths = new Map<string, number>();
  #settings: SurfaceSettings;
  #root: Instance | undefined;
  /** The changes since the last collection: a payload may change one value a thousand times. */
  readonly #redefined = new Set<string>();
  readonly #written = new WrittenPaths();
  /** Components to read again, and components with references to link again. */
  readonly #rebuild = new Set<Instance>();
  readonly #relink = new Map<Instance, Set<number>>();
  /** Components that were read again, and components with other children. */
  #touched = new Set<Instance>();
  readonly #relinked = new Set<Instance>();
  readonly #removed = new Map<string, Instance>();
  #problems: Problems;
  #work: Work;

  constructor(
    surfaceId: string,
    sourceId: string,
    settings: SurfaceSettings,
    isLegacy: boolean,
    limits: SurfaceLimits,
    problems: Problems,
    work: Work,
  ) {
    this.surfaceId = surfaceId;
    this.sourceId = sourceId;
    this.isLegacy = isLegacy;
    this.data = new DataModel(isLegacy);
    this.#settings = settings;
    this.#limits = limits;
    this.#problems = problems;
    this.#work = work;
  }

  /** Characters of definitions and data. */
  get length(): number {
    return this.#length + this.data.length;
  }

  get settings(): SurfaceSettings {
    return this.#settings;
  }

  /** The drawn components of an id; none while a change of them is not drawn, which was too large. */
  drawn(id: string): readonly Instance[] {
    return this.#isPending ? [] : [...(this.#byId.get(id) ?? [])];
  }

  configure(settings: SurfaceSettings): void {
    this.#settings = settings;
  }

  /** Defines a component, or removes its definition. */
  define(id: string, definition: Definition | undefined): void {
    const before = this.definitions.get(id);
    if (before?.text === definition?.text) return;
    this.#length += (definition?.text.length ?? 0) - (before?.text.length ?? 0);
    if (definition === undefined) this.definitions.delete(id);
    else this.definitions.set(id, definition);
    this.#redefined.add(id);
  }

  /** Writes data; undefined when renderers refuse the path. */
  write(path: string, value: JsonValue | undefined, problems: Problems): Revert | undefined {
    const segments = dataSegments(path, this.isLegacy);
    if (segments === undefined) return undefined;
    // Renderers of 0.8 keep the data when its root would not be an object.
    if (this.isLegacy && segments.length === 0 && !isJsonObject(value)) return () => {};
    const revert = this.data.write(segments, value);
    if (revert === undefined) return undefined;
    if (this.data.values > this.#limits.maxDataValues) {
      revert();
      this.#overLimit("maxDataValues", problems);
      return () => {};
    }
    this.#written.add(segments);
    return () => {
      this.#written.add(segments);
      revert();
    };
  }

  /** Brings the drawn components up to date and hands over what changed. */
  collect(problems: Problems, work: Work): SurfaceChanges {
    this.#problems = problems;
    this.#work = work;
    this.#notice();
    while (this.#rebuild.size + this.#relink.size > 0 && !work.isOver) {
      for (const instance of this.#rebuild) {
        if (work.isOver) break;
        this.#rebuild.delete(instance);
        this.#relink.delete(instance);
        this.#update(instance);
        // The reading of it is not complete.
        if (work.isOver) this.#rebuild.add(instance);
      }
      for (const [instance, slots] of this.#relink) {
        if (work.isOver) break;
        this.#relink.delete(instance);
        for (const slot of slots) this.#linkSlot(instance, slot);
        if (work.isOver) this.#relink.set(instance, slots);
      }
    }
    const components: SurfaceComponent[] = [];
    const place = {
      surfaceId: this.surfaceId,
      sourceId: this.sourceId,
      catalogueId: this.#settings.catalogueId,
    };
    const open = this.#withActingParents();
    if (!work.isOver) {
      this.#relinked.clear();
      this.#touched = open;
    }
    for (const instance of open) {
      if (work.isOver) break;
      open.delete(instance);
      work.countComponent();
      work.spend(instance.cost);
      const described = describeInstance(instance, place, this.#limits, problems, work);
      this.#removed.delete(instance.key);
      const isChanged = instance.described?.subtreeHash !== described.subtreeHash;
      work.spend(instance.cost);
      instance.described = described;
      if (isChanged) components.push(described);
    }
    for (const { cost } of this.#removed.values()) work.spend(cost);
    const removed = [...this.#removed.values()].flatMap((instance) => this.#asRemoved(instance));
    this.#removed.clear();
    return { components, removed };
  }

  /** Everything drawn, as removed: the surface is deleted. */
  removeAll(): RemovedComponent[] {
    return [...this.#instances.values()].flatMap((instance) => this.#asRemoved(instance));
  }

  /** The drawn components from the root down, at most so many: children of several parents are there several times. */
  outline(maxComponents: number): Pick<SurfaceDrawing, "components" | "isCut"> {
    const components: { component: SurfaceComponent; depth: number }[] = [];
    const open =
      this.#root === undefined || this.#isPending ? [] : [{ instance: this.#root, depth: 0 }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { instance, depth } = next;
      if (instance.described === undefined) continue;
      if (components.length >= maxComponents) return { components, isCut: true };
      components.push({ component: instance.described, depth });
      for (const child of instance.slots.flat().toReversed()) {
        open.push({ instance: child, depth: depth + 1 });
      }
    }
    return { components, isCut: false };
  }

  #asRemoved({ described }: Instance): RemovedComponent[] {
    if (described === undefined) return [];
    const { componentType, componentId, scope } = described;
    return [
      { componentType, componentId, surfaceId: this.surfaceId, sourceId: this.sourceId, scope },
    ];
  }

  get #isPending(): boolean {
    const open = this.#redefined.size + this.#rebuild.size + this.#relink.size + this.#touched.size;
    return open + this.#relinked.size > 0 || this.#written.root !== undefined;
  }

  /** Finds the components that the definitions and data of this payload concern, each once. */
  #notice(): void {
    for (const id of this.#redefined) {
      this.#redefined.delete(id);
      this.#noticeDefinition(id);
    }
    this.#replaceRoot();
    for (const read of this.#readers.concerned(this.#written, this.#work)) {
      const token = tokenOf(this.data.read(read.segments), read.reading);
      if (token === read.token) continue;
      read.token = token;
      this.#changed(read.reader, read.reading);
    }
    if (!this.#work.isOver) this.#written.root = undefined;
  }

  #noticeDefinition(id: string): void {
    const definition = this.definitions.get(id);
    const drawn = this.#byId.get(id) ?? [];
    if (definition === undefined) {
      for (const instance of drawn) {
        for (const parent of instance.parents.keys()) this.#rebuild.add(parent);
        this.#work.step(instance.parents.size);
      }
      return;
    }
    for (const instance of drawn) {
      instance.definition = definition;
      this.#rebuild.add(instance);
      this.#work.step();
    }
    for (const parent of this.#waiting.get(id) ?? []) {
      const slots = parent.waits.get(id) ?? [];
      for (const slot of slots) {
        // A text of an unknown component turns out to be the id of a child.
        if (parent.references[slot]?.isCertain === false) this.#rebuild.add(parent);
        else this.#linkLater(parent, slot);
      }
      this.#work.step(slots.length);
      parent.waits.delete(id);
    }
    this.#waiting.delete(id);
  }

  #changed(instance: Instance, reading: Reading): void {
    if (reading === "value") {
      this.#rebuild.add(instance);
      return;
    }
    for (const [slot, { list }] of instance.references.entries()) {
      if (list !== undefined) this.#linkLater(instance, slot);
    }
    this.#work.step(instance.references.length);
  }

  #linkLater(instance: Instance, slot: number): void {
    const slots = this.#relink.get(instance);
    if (slots === undefined) this.#relink.set(instance, new Set([slot]));
    else slots.add(slot);
  }

  #replaceRoot(): void {
    const { rootId } = this.#settings;
    const definition = rootId === undefined ? undefined : this.definitions.get(rootId);
    const before = this.#root;
    this.#root = definition && this.#instance(definition, "/");
    if (before !== undefined && before !== this.#root) this.#release(before);
  }

  /** The drawn component of a definition at a place of the data; undefined over the limit. */
  #instance(definition: Definition, scope: string): Instance | undefined {
    const key = instanceKey(definition.id, scope);
    const known = this.#instances.get(key);
    if (known !== undefined) return known;
    if (this.#instances.size >= this.#limits.maxInstances) {
      this.#overLimit("maxInstances");
      return undefined;
    }
    const instance = createInstance(definition, scope, this.#removed.get(key)?.described);
    this.#instances.set(key, instance);
    let drawn = this.#byId.get(definition.id);
    if (drawn === undefined) this.#byId.set(definition.id, (drawn = new Set()));
    drawn.add(instance);
    this.#rebuild.add(instance);
    return instance;
  }

  /** Reads a drawn component again and links its children. */
  #update(instance: Instance): void {
    const { inputPaths } = instance.own;
    const { references } = instance.definition;
    this.#work.step(COMPONENT_STEPS + references.length);
    if (this.#work.isOver) return;
    instance.own = readComponent(instance.definition, {
      data: this.data,
      path: instance.scope,
      isLegacy: this.isLegacy,
      limits: this.#limits,
      problems: this.#problems,
      work: this.#work,
      surfaceId: this.surfaceId,
      place: `${this.surfaceId}/${instance.definition.id}`,
      isComponent: (id) => this.definitions.has(id),
      isInputPath: (path) => this.#inputPaths.has(path),
    });
    instance.form = undefined;
    const reads = new Map<string, Read<Instance>>();
    for (const path of instance.own.paths) this.#register(instance, reads, path, "value");
    for (const { list } of references) {
      if (list === undefined) continue;
      this.#register(instance, reads, absolutePath(list, instance.scope, false), "items");
    }
    for (const [key, read] of instance.reads) if (!reads.has(key)) this.#readers.remove(read);
    instance.reads = reads;
    this.#forgetWaits(instance);
    // New ones first: a path that stays an input is not reported to its readers.
    for (const path of instance.own.inputPaths) this.#countInput(path, 1, instance);
    for (const path of inputPaths) this.#countInput(path, -1, instance);
    // Children that old and new references share stay drawn.
    const before = instance.references === references ? [] : instance.slots;
    if (instance.references !== references) instance.slots = references.map(() => []);
    instance.references = references;
    for (const slot of references.keys()) this.#linkSlot(instance, slot);
    for (const child of before.flat()) this.#drop(instance, child);
    this.#touched.add(instance);
  }

  /** Adds a place that a component reads, or keeps the one that it has. */
  #register(
    instance: Instance,
    reads: Map<string, Read<Instance>>,
    path: string,
    reading: Reading,
  ): void {
    const key = reading === "items" ? `${path}\n` : path;
    const known = instance.reads.get(key);
    const isLegacy = reading === "items" && this.isLegacy;
    const segments = known?.segments ?? dataSegments(path, isLegacy);
    if (segments === undefined) return;
    const token = tokenOf(this.data.read(segments), reading);
    const read = known ?? { reader: instance, reading, segments, token };
    read.token = token;
    if (known === undefined && !reads.has(key)) this.#readers.add(read);
    if (!reads.has(key)) reads.set(key, read);
  }

  #forgetReads(instance: Instance): void {
    for (const read of instance.reads.values()) this.#readers.remove(read);
    instance.reads = new Map();
    this.#forgetWaits(instance);
  }

  #forgetWaits(instance: Instance): void {
    for (const id of instance.waits.keys()) {
      const waiting = this.#waiting.get(id);
      waiting?.delete(instance);
      if (waiting?.size === 0) this.#waiting.delete(id);
    }
    instance.waits.clear();
  }

  /** A text that is made of what a person types is not known any more, or known again. */
  #countInput(path: string, step: 1 | -1, instance: Instance): void {
    const count = (this.#inputPaths.get(path) ?? 0) + step;
    if (count > 0) this.#inputPaths.set(path, count);
    else this.#inputPaths.delete(path);
    if (count !== (step === 1 ? 1 : 0)) return;
    for (const { reader, reading } of this.#readers.at(dataSegments(path, false) ?? [])) {
      this.#work.step();
      if (reader !== instance && reading === "value") this.#rebuild.add(reader);
    }
  }

  /** Draws what one reference of a component names, and drops what it named before. */
  #linkSlot(instance: Instance, slot: number): void {
    const reference = instance.references[slot];
    const children = instance.slots[slot];
    if (reference === undefined || children === undefined) return;
    const definition = this.definitions.get(reference.id);
    if (definition === undefined) this.#wait(instance, reference, slot);
    const scopes = this.#scopes(instance, reference);
    const wanted = definition === undefined ? 0 : scopes.count;
    const first = children[0];
    const isKept =
      scopes.isIndexed && first?.definition === definition && first?.scope === scopes.at(0);
    let index = isKept ? Math.min(children.length, wanted) : 0;
    for (; definition !== undefined && index < wanted && !this.#work.isOver; index += 1) {
      this.#work.step();
      const scope = scopes.at(index);
      const known = children[index];
      if (known?.definition === definition && known.scope === scope) continue;
      const child = this.#adopt(instance, definition, scope);
      if (child === undefined) break;
      children[index] = child;
      if (known !== undefined) this.#drop(instance, known);
    }
    if (this.#work.isOver) return;
    for (const rest of children.splice(index)) this.#drop(instance, rest);
    this.#relinked.add(instance);
  }

  #scopes(instance: Instance, { list }: ChildReference): ChildScopes {
    const { scope } = instance;
    if (list === undefined) return { count: 1, isIndexed: false, at: () => scope };
    const path = absolutePath(list, scope, false);
    const segments = dataSegments(path, this.isLegacy);
    const value = segments && this.data.read(segments);
    const base = path.endsWith("/") ? path.slice(0, -1) : path;
    if (Array.isArray(value)) {
      return { count: value.length, isIndexed: true, at: (index) => `${base}/${index}` };
    }
    if (!this.isLegacy || !isJsonObject(value))
      return { count: 0, isIndexed: false, at: () => path };
    const keys = Object.keys(value);
    const at = (index: number): string => `${base}/${escapeSegment(keys[index] ?? "")}`;
    return { count: keys.length, isIndexed: false, at };
  }

  #wait(instance: Instance, { id, isCertain }: ChildReference, slot: number): void {
    let waiting = this.#waiting.get(id);
    if (waiting === undefined) this.#waiting.set(id, (waiting = new Set()));
    waiting.add(instance);
    this.#work.step(2);
    const slots = instance.waits.get(id);
    if (slots === undefined) instance.waits.set(id, [slot]);
    else slots.push(slot);
    if (!isCertain) return;
    const place = `${this.surfaceId}/${instance.definition.id}`;
    this.#problems.add(
      "surface/unresolved-child",
      false,
      this.surfaceId,
      place,
      `The component refers to ${named(id)}, which is not defined.`,
    );
  }

  #adopt(parent: Instance, definition: Definition, scope: string): Instance | undefined {
    const verdict = this.#reach(parent, instanceKey(definition.id, scope));
    if (verdict === "cycle") {
      const place = `${this.surfaceId}/${definition.id}`;
      this.#problems.add(
        "surface/cycle",
        true,
        this.surfaceId,
        place,
        "The component contains itself.",
      );
    }
    if (verdict === "deep") this.#overLimit("maxDepth");
    if (verdict !== "fine") return undefined;
    const child = this.#instance(definition, scope);
    child?.parents.set(parent, (child.parents.get(parent) ?? 0) + 1);
    return child;
  }

  /** Walks the ancestors level by level; each is looked at once. */
  #reach(parent: Instance, key: string): "cycle" | "deep" | "fine" {
    let depth = 1;
    let first = parent;
    // Most components have one parent.
    for (; first.parents.size === 1; depth += 1) {
      if (first.key === key) return "cycle";
      if (depth >= this.#limits.maxDepth) return "deep";
      for (const above of first.parents.keys()) first = above;
    }
    this.#work.step(depth >> 3);
    let level = new Set([first]);
    const seen = new Set<Instance>();
    for (; level.size > 0; depth += 1) {
      if (depth >= this.#limits.maxDepth || seen.size > this.#limits.maxDepth * 8) return "deep";
      const above = new Set<Instance>();
      for (const instance of level) {
        if (instance.key === key) return "cycle";
        seen.add(instance);
        this.#work.step(instance.parents.size);
        for (const next of instance.parents.keys()) if (!seen.has(next)) above.add(next);
      }
      level = above;
    }
    return "fine";
  }

  #drop(parent: Instance, child: Instance): void {
    const count = (child.parents.get(parent) ?? 0) - 1;
    if (count > 0) child.parents.set(parent, count);
    else child.parents.delete(parent);
    this.#release(child);
  }

  /** Removes a drawn component without parents, and what only it draws. */
  #release(first: Instance): void {
    const open = [first];
    for (let instance = open.pop(); instance !== undefined; instance = open.pop()) {
      if (instance.parents.size > 0 || instance === this.#root) continue;
      if (this.#instances.get(instance.key) !== instance) continue;
      this.#work.step(4 + instance.reads.size);
      this.#forgetReads(instance);
      for (const path of instance.own.inputPaths) this.#countInput(path, -1, instance);
      const drawn = this.#byId.get(instance.definition.id);
      drawn?.delete(instance);
      if (drawn?.size === 0) this.#byId.delete(instance.definition.id);
      this.#instances.delete(instance.key);
      if (instance.described !== undefined) this.#removed.set(instance.key, instance);
      this.#rebuild.delete(instance);
      this.#relink.delete(instance);
      this.#touched.delete(instance);
      this.#relinked.delete(instance);
      for (const child of instance.slots.flat()) {
        child.parents.delete(instance);
        open.push(child);
      }
      instance.slots = [];
    }
  }

  /** The changed components, and those above whose label is read from them. */
  #withActingParents(): Set<Instance> {
    const found = new Set(this.#touched);
    for (const instance of this.#relinked) if (isActing(instance)) found.add(instance);
    const seen = new Set([...this.#touched, ...this.#relinked]);
    const open = [...seen];
    for (let instance = open.pop(); instance !== undefined; instance = open.pop()) {
      this.#work.step(instance.parents.size);
      if (this.#work.isOver) break;
      for (const parent of instance.parents.keys()) {
        if (seen.has(parent)) continue;
        seen.add(parent);
        open.push(parent);
        if (isActing(parent)) found.add(parent);
      }
    }
    return found;
  }

  #overLimit(limit: keyof SurfaceLimits, problems = this.#problems): void {
    problems.add(
      "surface/over-limit",
      true,
      this.surfaceId,
      `${this.surfaceId} ${limit}`,
      `The surface is over ${limit} of ${this.#limits[limit]}. Fix: send a smaller surface, or raise the limit.`,
    );
  }
}
