import { isJsonObject, ownMember } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { copyOf, measure } from "../a2ui/data-model.js";
import { callerOf, isBasicFunction } from "../a2ui/functions.js";
import { readOperation } from "../a2ui/operations.js";
import type { Operation } from "../a2ui/operations.js";
import { escapeSegment } from "../a2ui/resolve.js";
import { A2uiSurface } from "../a2ui/surface.js";
import { Changes } from "./changes.js";
import type { Applied } from "./changes.js";
import type {
  SurfaceComponent,
  SurfaceDrawing,
  SurfaceFacts,
  SurfaceInfo,
  SurfaceLimits,
} from "../base/facts.js";
import { named, Problems } from "../base/problems.js";
import type { Work } from "../base/work.js";
import { readDefinition } from "./read-definition.js";
import type { View } from "./views.js";

/** To create or to delete a surface counts as this many values, and a definition as that many. */
const OPERATION_STEPS = 16;
const DEFINITION_STEPS = 6;
/** So many plain values count as one that is resolved. */
const PLAIN_VALUES = 8;

/** One message or call with what it shows; clients keep the surfaces of each apart. */
interface Source {
  readonly id: string;
  readonly agent: string | undefined;
  readonly surfaces: Map<string, A2uiSurface>;
  view: View | undefined;
}

/** A list of operations with its place in the payload. */
export interface OperationList {
  readonly operations: readonly JsonValue[];
  readonly place: string;
}

/** All that a thread shows, by message and call, the oldest first. */
export class Sources {
  readonly #limits: SurfaceLimits;
  readonly #sources = new Map<string, Source>();

  constructor(limits: SurfaceLimits) {
    this.#limits = limits;
  }

  infos(): SurfaceInfo[] {
    return [...this.#sources.values()].flatMap((source) => [
      ...[...source.surfaces.values()].map((surface) => infoOf(surface, "created")),
      ...(source.view === undefined ? [] : [source.view.info]),
    ]);
  }

  has(sourceId: string): boolean {
    return this.#sources.has(sourceId);
  }

  hasView(sourceId: string): boolean {
    return this.#sources.get(sourceId)?.view !== undefined;
  }

  /** The drawn components of an id, for each message that has such a surface, the newest first. */
  *drawn(surfaceId: string, id: string): Iterable<readonly SurfaceComponent[]> {
    for (const source of [...this.#sources.values()].toReversed()) {
      const surface = source.surfaces.get(surfaceId);
      if (surface !== undefined)
        yield surface.drawn(id).flatMap(({ described }) => described ?? []);
      const component = source.view?.component;
      if (component?.surfaceId === surfaceId && component.id === id) yield [component];
    }
  }

  /** The surfaces of a message or call, each with at most so many components. */
  drawings(sourceId: string, maxComponents: number): SurfaceDrawing[] {
    const source = this.#sources.get(sourceId);
    if (source === undefined) return [];
    const { view } = source;
    return [
      ...[...source.surfaces.values()].map((surface) => ({
        surface: infoOf(surface, "created"),
        ...surface.outline(maxComponents),
      })),
      ...(view === undefined
        ? []
        : [
            {
              surface: view.info,
              components: [{ component: view.component, depth: 0 }],
              isCut: false,
            },
          ]),
    ];
  }

  /** Brings the touched surfaces up to date and makes the facts. */
  finish(changes: Changes): SurfaceFacts {
    for (const surface of changes.touched) {
      if (changes.work.isOver) break;
      changes.collected.add(surface);
      const { components, removed } = surface.collect(changes.problems, changes.work);
      changes.components.push(...components);
      changes.removed.push(...removed);
    }
    if (changes.applied !== undefined) {
      changes.components.unshift(...this.#drawnOtherwise(changes.applied, changes.work));
    }
    if (changes.work.isOver && changes.isSurface) {
      changes.problems.add(
        "surface/over-limit",
        true,
        undefined,
        "maxDrawnLength",
        `The payload draws more than maxDrawnLength of ${this.#limits.maxDrawnLength} characters or takes more than maxSteps of ${this.#limits.maxSteps} steps, or all payloads together draw more than maxTotalLength. Fix: send a smaller surface, use a long text once, or raise the limit.`,
      );
    }
    this.#forgetOldest(changes);
    return {
      isSurface: changes.isSurface,
      components: changes.components,
      removed: changes.removed,
      surfaces: [...changes.infos.values()],
      functionCalls: changes.functionCalls,
      problems: changes.problems.list,
    };
  }

  /** Shows an MCP App or an HTML document in place of the one before. */
  show(view: View, sourceId: string, changes: Changes): void {
    changes.isSurface = true;
    const source = this.#source(sourceId, changes.agent, changes);
    const before = source.view;
    source.view = view;
    changes.onUndo(() => (source.view = before));
    changes.infos.set(view, view.info);
    const isSame = before?.component.subtreeHash === view.component.subtreeHash;
    if (!isSame) changes.components.push(view.component);
    if (before !== undefined && before.component.componentType !== view.component.componentType) {
      const { componentType, componentId, surfaceId, scope } = before.component;
      changes.removed.push({ componentType, componentId, surfaceId, sourceId, scope });
    }
  }

  /** Reports a subagent that changes or removes what another agent drew; the agent that calls them may. */
  checkSender(sourceId: string, agent: string, changes: Changes): void {
    const source = this.#sources.get(sourceId);
    if (source === undefined || source.agent === agent) return;
    changes.isSurface = true;
    changes.problems.add(
      "surface/foreign-update",
      true,
      undefined,
      sourceId,
      "A subagent changes what another agent drew. Fix: draw in a message of its own.",
    );
  }

  /** Removes everything that a message or call shows. */
  remove(sourceId: string, changes: Changes): void {
    const source = this.#sources.get(sourceId);
    if (source === undefined) return;
    changes.isSurface = true;
    for (const surface of source.surfaces.values()) this.#delete(source, surface, changes);
    if (source.view !== undefined) {
      const { componentType, componentId, surfaceId, scope } = source.view.component;
      changes.removed.push({ componentType, componentId, surfaceId, sourceId, scope });
      changes.infos.set(source, { ...source.view.info, change: "deleted" });
    }
    this.#forget(source, changes);
  }

  /**
   * Applies operations as clients do: a surface is created when it is missing and kept when it is
   * created again, since each snapshot repeats the operations before it.
   *
   * @param isWhole whether surfaces that are not named any more are not shown any more
   * @returns whether a surface keeps components or data that these operations do not repeat
   */
  applyOperations(
    lists: readonly OperationList[],
    sourceId: string,
    agent: string | undefined,
    isWhole: boolean,
    changes: Changes,
  ): boolean {
    const source = this.#source(sourceId, agent, changes);
    // Only a whole payload can leave out what its message drew: an update alone costs what it changes.
    const earlier = isWhole ? [...source.surfaces.values()] : [];
    const rest = new Map(earlier.map((one) => [one, restOf(one)]));
    const created = new Set<string>();
    const namedIds = new Set<string>();
    for (const { operations, place } of lists) {
      for (const [index, raw] of operations.entries()) {
        // An operation that is left out makes the payload undecided.
        if (changes.work.isOver) break;
        changes.work.step();
        for (const operation of readOperation(raw, `${place}/${index}`, changes.problems)) {
          namedIds.add(operation.surfaceId);
          const known = source.surfaces.get(operation.surfaceId);
          repeat(known && rest.get(known), operation);
          this.#operation(operation, source, created, changes);
        }
      }
    }
    if (!isWhole) return false;
    for (const surface of source.surfaces.values()) {
      if (!namedIds.has(surface.surfaceId)) this.#delete(source, surface, changes);
    }
    return [...source.surfaces.values()].some((surface) => {
      const left = rest.get(surface);
      return left !== undefined && (left.hasData || left.ids.size > 0);
    });
  }

  /**
   * The components that other clients draw otherwise than this model. One is a page where nothing was drawn before. The other is a
   * client with one model for all messages, which ignores that a surface is created again.
   */
  #drawnOtherwise(applied: Applied, work: Work): SurfaceComponent[] {
    const { sourceId, leavesOut } = applied;
    const own = this.#sources.get(sourceId);
    const others = [...this.#sources.values()].flatMap((source) =>
      source === own
        ? []
        : [...source.surfaces.values()].filter((one) => {
            const again = own?.surfaces.get(one.surfaceId);
            work.step(one.definitions.size / DEFINITION_STEPS);
            return again !== undefined && !isWholeAgain(again, one);
          }),
    );
    const readings = [...(leavesOut ? [[]] : []), ...(others.length > 0 ? [others] : [])];
    return readings.flatMap((before) =>
      this.#drawnAfter(before, applied, work).filter(({ surfaceId, id, scope, subtreeHash }) => {
        const drawn = own?.surfaces.get(surfaceId)?.drawn(id);
        const here = drawn?.find(({ described }) => described?.scope === scope);
        return here?.described?.subtreeHash !== subtreeHash;
      }),
    );
  }

  /** The components that operations draw where these surfaces, in their order, are one model with them. */
  #drawnAfter(
    before: readonly A2uiSurface[],
    { operations, sourceId, agent }: Applied,
    work: Work,
  ): readonly SurfaceComponent[] {
    const alone = new Sources(this.#limits);
    const changes = new Changes(new Problems(1), this.#limits, work);
    const source = alone.#source(sourceId, agent, changes);
    for (const { surfaceId, isLegacy, settings, definitions, data } of before) {
      const surface =
        source.surfaces.get(surfaceId) ??
        alone.#add(source, surfaceId, isLegacy, settings, changes);
      changes.touched.add(surface);
      work.step(definitions.size + data.values);
      for (const [id, definition] of definitions) surface.define(id, definition);
      const { root } = data;
      // Members of a later message replace those of the same name.
      const members = isJsonObject(root) ? Object.entries(root) : [];
      for (const [name, value] of members) {
        surface.write(`/${escapeSegment(name)}`, copyOf(value), changes.problems);
      }
      if (members.length === 0 && root !== undefined) {
        surface.write("/", copyOf(root), changes.problems);
      }
    }
    alone.applyOperations(operations, sourceId, agent, before.length === 0, changes);
    return alone.finish(changes).components;
  }

  #operation(operation: Operation, source: Source, created: Set<string>, changes: Changes): void {
    const { surfaceId } = operation;
    switch (operation.kind) {
      case "create":
        this.#create(operation, source, created, changes);
        return;
      case "components":
        this.#update(operation, source, changes);
        return;
      case "data":
        this.#write(operation, source, changes);
        return;
      case "delete": {
        const surface = source.surfaces.get(surfaceId);
        created.delete(surfaceId);
        if (surface !== undefined) this.#delete(source, surface, changes);
        return;
      }
      case "call": {
        const { call, place } = operation;
        const name = String(call["call"]);
        const args = isJsonObject(call["args"]) ? call["args"] : {};
        changes.functionCalls.push({
          name,
          args,
          caller: callerOf(name),
          isBasic: isBasicFunction(name),
          path: place,
        });
        changes.problems.add(
          "surface/agent-function",
          false,
          undefined,
          place,
          `The agent asks the page to run the function ${named(name)} now.`,
        );
      }
    }
  }

  #create(
    operation: Operation & { kind: "create" },
    source: Source,
    created: Set<string>,
    changes: Changes,
  ): void {
    const { surfaceId, version, catalogueId, sendDataModel, theme, rootId, place } = operation;
    const { problems } = changes;
    if (created.has(surfaceId)) {
      problems.add(
        "surface/duplicate-surface",
        false,
        surfaceId,
        place,
        "The payload creates the surface twice; clients refuse or ignore the second.",
      );
    }
    created.add(surfaceId);
    const settings = { version, catalogueId, sendDataModel, theme, rootId };
    const surface = source.surfaces.get(surfaceId);
    if (surface === undefined) {
      this.#add(source, surfaceId, operation.isLegacy, settings, changes);
      return;
    }
    this.#checkDialect(surface, operation, changes);
    const before = surface.settings;
    // Some clients keep the first settings: whatever sends data stays on.
    surface.configure({ ...settings, sendDataModel: sendDataModel || before.sendDataModel });
    changes.touched.add(surface);
    changes.onUndo(() => surface.configure(before));
    const isSame =
      before.catalogueId === catalogueId &&
      before.sendDataModel === surface.settings.sendDataModel &&
      before.rootId === rootId &&
      JSON.stringify(before.theme) === JSON.stringify(theme);
    if (!isSame && !changes.infos.has(surface))
      changes.infos.set(surface, infoOf(surface, "changed"));
  }

  #add(
    source: Source,
    surfaceId: string,
    isLegacy: boolean,
    settings: A2uiSurface["settings"],
    changes: Changes,
  ): A2uiSurface {
    const surface = new A2uiSurface(
      surfaceId,
      source.id,
      settings,
      isLegacy,
      this.#limits,
      changes.problems,
      changes.work,
    );
    changes.work.step(OPERATION_STEPS);
    source.surfaces.set(surfaceId, surface);
    changes.onUndo(() => source.surfaces.delete(surfaceId));
    const isReplaced = changes.deleted.has(`${surfaceId}\n${source.id}`);
    changes.infos.set(surface, infoOf(surface, isReplaced ? "replaced" : "created"));
    return surface;
  }

  /** The surface that an operation changes: of this message, or as it is elsewhere, or a new one. */
  #surface(operation: Operation, source: Source, changes: Changes): A2uiSurface {
    const { surfaceId, isLegacy, version, place } = operation;
    const own = source.surfaces.get(surfaceId);
    if (own !== undefined) {
      this.#checkDialect(own, operation, changes);
      changes.touched.add(own);
      return own;
    }
    const other = [...this.#sources.values()].findLast((one) => one.surfaces.has(surfaceId));
    const shown = other?.surfaces.get(surfaceId);
    const settings = {
      version,
      catalogueId: undefined,
      sendDataModel: false,
      theme: undefined,
      rootId: isLegacy ? undefined : "root",
    };
    const surface = this.#add(source, surfaceId, isLegacy, shown?.settings ?? settings, changes);
    changes.touched.add(surface);
    if (shown === undefined) {
      if (!isLegacy)
        changes.problems.add(
          "surface/update-before-create",
          false,
          surfaceId,
          place,
          "The operation changes a surface that was not created. Fix: send createSurface first.",
        );
      return surface;
    }
    // Without a tag it is the agent that calls the others.
    const isForeign = source.agent !== undefined && source.agent !== other?.agent;
    changes.problems.add(
      "surface/foreign-update",
      isForeign,
      surfaceId,
      place,
      isForeign
        ? "The operation changes a surface of another agent."
        : "The operation changes a surface that another message created.",
    );
    // Clients with one model for all messages draw the change on what is there.
    changes.work.step(shown.definitions.size + shown.data.values);
    for (const [id, definition] of shown.definitions) surface.define(id, definition);
    if (shown.data.root !== undefined)
      surface.write("/", copyOf(shown.data.root), changes.problems);
    return surface;
  }

  #checkDialect(surface: A2uiSurface, operation: Operation, { problems }: Changes): void {
    if (surface.isLegacy === operation.isLegacy) return;
    problems.add(
      "surface/ambiguous-operation",
      true,
      surface.surfaceId,
      operation.place,
      "The surface mixes operations of A2UI 0.8 with later ones. Fix: send one version.",
    );
  }

  #update(operation: Operation & { kind: "components" }, source: Source, changes: Changes): void {
    const surface = this.#surface(operation, source, changes);
    const ids = new Set<string>();
    for (const component of operation.components) {
      const place = `${surface.surfaceId}/${component.id}`;
      changes.work.step(DEFINITION_STEPS + measure(component.props).values / PLAIN_VALUES);
      if (ids.has(component.id)) {
        changes.problems.add(
          "surface/duplicate-component",
          false,
          surface.surfaceId,
          place,
          "The operation defines the component twice; clients keep the last.",
        );
      }
      ids.add(component.id);
      const definition = readDefinition(component, surface, place, this.#limits, changes.problems);
      if (definition === undefined) continue;
      const before = surface.definitions.get(component.id);
      surface.define(component.id, definition);
      changes.onUndo(() => surface.define(component.id, before));
    }
  }

  #write(operation: Operation & { kind: "data" }, source: Source, changes: Changes): void {
    const surface = this.#surface(operation, source, changes);
    const { path, value, place } = operation;
    changes.work.step(measure(value).values / PLAIN_VALUES);
    const revert = surface.write(
      path,
      value === undefined ? undefined : copyOf(value),
      changes.problems,
    );
    if (revert === undefined) {
      changes.problems.add(
        "surface/malformed-data",
        true,
        surface.surfaceId,
        place,
        "The path of the data does not fit the data model. Fix: write objects and lists before their members.",
      );
      return;
    }
    changes.onUndo(revert);
    if (surface.length > this.#limits.maxModelLength) {
      changes.problems.add(
        "surface/over-limit",
        true,
        surface.surfaceId,
        place,
        "The surface has more characters than maxModelLength. Fix: send less data, or raise the limit.",
      );
    }
  }

  #delete(source: Source, surface: A2uiSurface, changes: Changes): void {
    const { surfaceId } = surface;
    changes.work.step(OPERATION_STEPS + source.surfaces.size);
    changes.onUndo(remove(source.surfaces, surfaceId));
    changes.touched.delete(surface);
    changes.collected.add(surface);
    const removed = surface.removeAll();
    for (const one of removed) changes.removed.push(one);
    if (removed.length > 0) changes.deleted.add(`${surfaceId}\n${source.id}`);
    changes.infos.set(surface, infoOf(surface, "deleted"));
  }

  #source(id: string, agent: string | undefined, changes: Changes): Source {
    const known = this.#sources.get(id);
    if (known !== undefined) return known;
    const source: Source = { id, agent, surfaces: new Map(), view: undefined };
    this.#sources.set(id, source);
    changes.onUndo(() => this.#sources.delete(id));
    return source;
  }

  /** Keeps the model bounded: the oldest messages are forgotten, and clicks on them are not verified. */
  #forgetOldest(changes: Changes): void {
    let count = 0;
    let length = 0;
    for (const source of [...this.#sources.values()].toReversed()) {
      const isChanged = [...source.surfaces.values()].some(
        (surface) => changes.infos.has(surface) || changes.touched.has(surface),
      );
      count += source.surfaces.size + (source.view === undefined ? 0 : 1);
      for (const surface of source.surfaces.values()) length += surface.length;
      if (source.surfaces.size === 0 && source.view === undefined) this.#forget(source, changes);
      else if (count > this.#limits.maxSurfaces || length > this.#limits.maxModelLength) {
        const isShown = source.view !== undefined && changes.infos.has(source.view);
        if (!isChanged && !isShown) this.#forget(source, changes);
        else if (source.surfaces.size > this.#limits.maxSurfaces) {
          changes.problems.add(
            "surface/over-limit",
            true,
            undefined,
            source.id,
            "The message has more surfaces than maxSurfaces. Fix: send fewer surfaces, or raise the limit.",
          );
        }
      }
    }
  }

  #forget(source: Source, changes: Changes): void {
    changes.onUndo(remove(this.#sources, source.id));
  }
}

/** Removes an entry; the result puts it back in its place: of several surfaces under one id the newest one counts. */
function remove<Key, Value>(map: Map<Key, Value>, key: Key): () => void {
  const before = [...map];
  map.delete(key);
  return () => {
    map.clear();
    for (const [each, value] of before) map.set(each, value);
  };
}

/** The content of a surface before a payload, without the parts that the payload repeats. */
interface Rest {
  readonly ids: Set<string>;
  hasData: boolean;
}

function restOf({ definitions, data }: A2uiSurface): Rest {
  return { ids: new Set(definitions.keys()), hasData: data.root !== undefined };
}

function repeat(rest: Rest | undefined, operation: Operation): void {
  if (rest === undefined) return;
  if (operation.kind === "components") {
    for (const { id, type } of operation.components) if (type !== undefined) rest.ids.delete(id);
  } else if (operation.kind === "data" && operation.path === "/") rest.hasData = false;
}

function infoOf(surface: A2uiSurface, change: SurfaceInfo["change"]): SurfaceInfo {
  const { surfaceId, sourceId, settings } = surface;
  const { version, catalogueId, sendDataModel, theme } = settings;
  return {
    surfaceId,
    kind: "a2ui",
    change,
    sourceId,
    version,
    catalogueId,
    sendDataModel,
    theme,
    app: undefined,
    html: undefined,
  };
}

/** Whether a surface defines all components and data of an earlier one anew, so that nothing of that one is left in it. */
function isWholeAgain(again: A2uiSurface, earlier: A2uiSurface): boolean {
  for (const id of earlier.definitions.keys()) if (!again.definitions.has(id)) return false;
  const [before, after] = [earlier.data.root, again.data.root];
  if (before === undefined) return true;
  if (!isJsonObject(before) || !isJsonObject(after)) return false;
  return Object.entries(before).every(([name, value]) => {
    const now = ownMember(after, name);
    // Writes below a member leave the rest of it.
    const isReplaced = now !== undefined && (typeof now !== "object" || now === null);
    return isReplaced || JSON.stringify(now) === JSON.stringify(value);
  });
}
