import { isJsonObject, ownMember, parseJson, parseLeniently } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type {
  ActivityPayload,
  ArgumentsPayload,
  ShownAction,
  SurfaceComponent,
  SurfaceDrawing,
  SurfaceFacts,
  SurfaceInfo,
  SurfaceLimits,
  SurfaceModel,
  SurfaceModelOptions,
  SurfacePayload,
} from "../base/facts.js";
import { RENDERING_ACTIVITIES, RENDERING_TOOLS } from "../base/channels.js";
import { Changes } from "./changes.js";
import { resolveSurfaceLimits } from "../base/limits.js";
import { findOperations, findUi } from "../payload/find-ui.js";
import type { FoundUi } from "../payload/find-ui.js";
import { readPartialObject } from "../payload/partial-json.js";
import { Problems } from "../base/problems.js";
import { Work } from "../base/work.js";
import { Sources } from "./sources.js";
import { readApp, readResource, readSandbox } from "./views.js";

const HTML_TOOLS: ReadonlySet<string> = new Set(RENDERING_TOOLS.html);
/** Apps and pages of one payload. */
const MAX_VIEWS = 64;
/** Activities of a page of its own: what is in them is data of that page. */
const HTML_ACTIVITIES: ReadonlySet<string> = new Set(["mcp-apps", "open-generative-ui"]);
/** A text of arguments is read again when it has grown by this factor, and at its end. */
const GROWTH = 1.25;
/** Calls whose arguments are followed at once; of others only the whole text is read. */
const MAX_OPEN_CALLS = 256;

/**
 * Makes the model of the generative UI that one thread shows.
 *
 * @example
 * const model = createSurfaceModel();
 * const facts = model.apply({ kind: "activity", messageId: "m1", activityType: "a2ui-surface", content });
 * for (const component of facts.components) console.log(component.componentId, component.label);
 *
 * @throws TypeError when a limit is unknown or not a positive integer
 */
export function createSurfaceModel(options: SurfaceModelOptions = {}): SurfaceModel {
  return new Model(options);
}

class Model implements SurfaceModel {
  readonly #limits: SurfaceLimits;
  readonly #a2uiTools: ReadonlySet<string>;
  readonly #activities: ReadonlySet<string>;
  readonly #sources: Sources;
  /** Length of the arguments that were read last, by call. */
  readonly #openCalls = new Map<string, number>();
  readonly #total: Work;
  #last: Changes | undefined;

  constructor({ limits, renderingTools = [], renderingActivities = [] }: SurfaceModelOptions) {
    this.#limits = resolveSurfaceLimits(limits);
    this.#a2uiTools = new Set([...RENDERING_TOOLS.a2ui, ...renderingTools]);
    this.#activities = new Set([...RENDERING_ACTIVITIES, ...renderingActivities]);
    this.#sources = new Sources(this.#limits);
    this.#total = new Work(this.#limits.maxTotalLength, Infinity);
  }

  get surfaces(): readonly SurfaceInfo[] {
    return this.#sources.infos();
  }

  apply(payload: SurfacePayload): SurfaceFacts {
    const changes = new Changes(new Problems(this.#limits.maxProblems), this.#limits, this.#total);
    this.#last = changes;
    try {
      this.#apply(payload, changes);
      return this.#sources.finish(changes);
    } catch {
      // A client may show a value on which this code fails.
      changes.undo();
      this.#last = undefined;
      return UNREADABLE;
    }
  }

  undo(): void {
    this.#last?.undo();
    this.#last = undefined;
  }

  findAction(surfaceId: string, componentId: string, actionName: string): ShownAction | undefined {
    for (const drawn of this.#sources.drawn(surfaceId, componentId)) {
      const [first] = drawn;
      const action = first?.actions.find(
        ({ name, kind }) => kind === "event" && name === actionName,
      );
      if (first === undefined || action === undefined) continue;
      const { componentType, label, subtreeHash, kind } = first;
      const scopes = drawn.map(({ scope }) => scope);
      return {
        componentType,
        componentId: first.componentId,
        scopes,
        action,
        label,
        subtreeHash,
        surfaceKind: kind,
      };
    }
    return undefined;
  }

  component(surfaceId: string, componentId: string, scope?: string): SurfaceComponent | undefined {
    for (const drawn of this.#sources.drawn(surfaceId, componentId)) {
      const found = drawn.find((one) => scope === undefined || one.scope === scope);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  draws(sourceId: string): boolean {
    return this.#sources.has(sourceId);
  }

  drawings(sourceId: string, maxComponents: number): SurfaceDrawing[] {
    return this.#sources.drawings(sourceId, maxComponents);
  }

  #apply(payload: SurfacePayload, changes: Changes): void {
    if ("agent" in payload && payload.agent !== undefined) {
      const sourceId = payload.kind === "activity" ? payload.messageId : payload.toolCallId;
      changes.agent = payload.agent;
      this.#sources.checkSender(sourceId, payload.agent, changes);
    }
    switch (payload.kind) {
      case "activity":
        this.#activity(payload, changes);
        return;
      case "arguments":
        this.#arguments(payload, changes);
        return;
      case "result":
        this.#found(payload.content, payload.toolCallId, payload.agent, changes, false);
        return;
      case "resource":
        this.#found(payload.content, payload.sourceId, undefined, changes, false);
        return;
      case "removal":
        for (const id of payload.messageIds) this.#sources.remove(id, changes);
    }
  }

  #activity(payload: ActivityPayload, changes: Changes): void {
    const { messageId, activityType, content, agent } = payload;
    const isHtml =
      isJsonObject(content) && (activityType === "open-generative-ui" || isSandbox(content));
    if (isHtml) this.#sandbox(content, messageId, content["generating"] === false, changes);
    const isDrawn = this.#activities.has(activityType) || this.#sources.has(messageId);
    // The type says what a client draws, and a delta may change it: everything there is judged.
    const found = findUi(content, changes.problems, this.#limits);
    if (isDrawn && !HTML_ACTIVITIES.has(activityType) && isJsonObject(content)) {
      this.#addOthers(content, found, changes);
      addComponents(content, undefined, found);
    }
    this.#show(found, messageId, agent, changes, true);
    if (found.length > 0 || isHtml) return;
    // The activity's earlier picture is gone, whatever it is now.
    this.#sources.remove(messageId, changes);
    if (!isDrawn) return;
    changes.isSurface = true;
    if (isJsonObject(content) && (content["resourceUri"] ?? null) === null) return;
    changes.problems.add(
      "surface/unreadable",
      true,
      undefined,
      messageId,
      "The content of the activity is not known, or was patched too often. Fix: send the whole activity as a snapshot.",
    );
  }

  /** Applies the user interface in a value; false when there is none. */
  #found(
    content: JsonValue,
    sourceId: string,
    agent: string | undefined,
    changes: Changes,
    isWhole: boolean,
  ): boolean {
    const found = findUi(content, changes.problems, this.#limits);
    // A text that could not be read.
    if (changes.problems.list.length > 0) changes.isSurface = true;
    this.#show(found, sourceId, agent, changes, isWhole);
    return found.length > 0;
  }

  #show(
    found: readonly FoundUi[],
    sourceId: string,
    agent: string | undefined,
    changes: Changes,
    isWhole: boolean,
  ): void {
    const operations = found.filter((one) => one.kind === "a2ui");
    if (operations.length > 0 || (isWhole && this.#sources.has(sourceId))) {
      changes.isSurface = true;
      const leavesOut = this.#sources.applyOperations(
        operations,
        sourceId,
        agent,
        isWhole,
        changes,
      );
      changes.applied = { operations, sourceId, agent, leavesOut };
    }
    const views = found.filter((one) => one.kind !== "a2ui");
    let length = 0;
    for (const one of views) if (one.kind === "resource") length += one.html.length;
    if (views.length > MAX_VIEWS || length > this.#limits.maxHtmlLength) {
      changes.isSurface = true;
      changes.problems.add(
        "surface/over-limit",
        true,
        undefined,
        sourceId,
        `The payload has more than ${MAX_VIEWS} apps or pages, or their HTML is longer than maxHtmlLength. Fix: send fewer, or raise the limit.`,
      );
      return;
    }
    for (const one of views) {
      const isKnown = this.#sources.hasView(sourceId);
      if (one.kind === "app") {
        this.#sources.show(readApp(one.content, sourceId, isKnown), sourceId, changes);
      } else {
        const view = readResource(one, sourceId, isKnown, this.#limits, changes.problems);
        this.#sources.show(view, sourceId, changes);
      }
    }
  }

  #sandbox(content: JsonObject, sourceId: string, isComplete: boolean, changes: Changes): void {
    const isKnown = this.#sources.hasView(sourceId);
    const view = readSandbox(
      content,
      sourceId,
      isComplete,
      isKnown,
      this.#limits,
      changes.problems,
    );
    this.#sources.show(view, sourceId, changes);
  }

  #arguments(payload: ArgumentsPayload, changes: Changes): void {
    const { toolCallId, name, text, complete, agent } = payload;
    const isHtml = HTML_TOOLS.has(name);
    if (!isHtml && !this.#a2uiTools.has(name)) return;
    changes.isSurface = true;
    const read = complete
      ? this.#wholeArguments(payload, changes)
      : this.#partialArguments(toolCallId, text);
    if (read === undefined) return;
    const { members, open } = read;
    if (isHtml) {
      if (complete && !isSandboxCall(members)) {
        changes.problems.add(
          "surface/unreadable",
          true,
          undefined,
          toolCallId,
          "The arguments have HTML, styles or scripts in a form that clients read in different ways. Fix: send html, css and jsFunctions as text, jsExpressions and placeholderMessages as lists of texts.",
        );
      }
      this.#sandbox(members, toolCallId, complete, changes);
      return;
    }
    const before = changes.problems.list.length;
    const found: FoundUi[] = complete ? findUi(members, changes.problems, this.#limits) : [];
    if (complete) this.#addOthers(members, found, changes);
    addComponents(members, open, found);
    if (found.length > 0) {
      this.#show(found, toolCallId, agent, changes, true);
    } else if (complete && changes.problems.list.length === before) {
      changes.problems.add(
        "surface/unreadable",
        true,
        undefined,
        toolCallId,
        "The arguments of the rendering tool have no components. Fix: send surfaceId and components.",
      );
    }
  }

  /** Adds the operations below any member to those that are where reference clients look. */
  #addOthers(content: JsonObject, found: FoundUi[], { problems }: Changes): void {
    const known = new Set(found.map((one) => one.kind === "a2ui" && one.place));
    for (const one of findOperations(content, problems, this.#limits)) {
      if (!known.has(one.place)) found.push({ kind: "a2ui", ...one });
    }
  }

  #wholeArguments(
    { toolCallId, text }: ArgumentsPayload,
    { problems }: Changes,
  ): { members: JsonObject; open: undefined } | undefined {
    this.#openCalls.delete(toolCallId);
    let value: JsonValue | undefined;
    try {
      value = parseJson(text, { maxBytes: this.#limits.maxModelLength });
    } catch {
      problems.add(
        "surface/unreadable",
        true,
        undefined,
        toolCallId,
        "The arguments of the rendering tool are not JSON of one meaning, or too long. Fix: send one JSON object without duplicate keys.",
      );
      value = text.length > this.#limits.maxModelLength ? undefined : parseLeniently(text);
    }
    return isJsonObject(value) ? { members: value, open: undefined } : undefined;
  }

  #partialArguments(toolCallId: string, text: string) {
    const last = this.#openCalls.get(toolCallId) ?? 0;
    if (text.length < last * GROWTH || text.length > this.#limits.maxModelLength) return undefined;
    if (last === 0 && this.#openCalls.size >= MAX_OPEN_CALLS) return undefined;
    this.#openCalls.set(toolCallId, Math.max(text.length, 1));
    return readPartialObject(text);
  }
}

/** Adds the components that stand beside the id of their surface. */
function addComponents(members: JsonObject, open: string | undefined, found: FoundUi[]): void {
  const operations = operationsOf(members, open);
  if (operations !== undefined) found.unshift({ kind: "a2ui", operations, place: "" });
}

/** The operations that middleware makes of the arguments of `render_a2ui`. */
function operationsOf(members: JsonObject, open: string | undefined): JsonValue[] | undefined {
  const { surfaceId, catalogId, components, data } = members;
  // Nothing is painted before the list of components is complete.
  if (!Array.isArray(components) || open === "components" || surfaceId === undefined)
    return undefined;
  const catalogue = catalogId === undefined ? {} : { catalogId };
  const operations: JsonValue[] = [
    { version: "v0.9", createSurface: { surfaceId, ...catalogue } },
    { version: "v0.9", updateComponents: { surfaceId, components } },
  ];
  if (data !== undefined)
    operations.push({ version: "v0.9", updateDataModel: { surfaceId, path: "/", value: data } });
  return operations;
}

/** Whether an activity has the content of an open generative UI, whatever its type. */
function isSandbox(content: JsonObject): boolean {
  const hasHtml = ownMember(content, "html") !== undefined;
  return (
    hasHtml &&
    ["generating", "initialHeight", "htmlComplete"].some((name) => Object.hasOwn(content, name))
  );
}

const TEXTS = ["html", "css", "jsFunctions"];
const LISTS_OF_TEXTS = ["jsExpressions", "placeholderMessages"];

/**
 * Whether complete arguments say HTML, styles and scripts in the form of their tool. A middleware
 * reads other forms while they stream, such as the texts inside of an object.
 */
function isSandboxCall(members: JsonObject): boolean {
  const isText = (value: JsonValue | undefined): boolean => typeof value === "string";
  return (
    TEXTS.every((name) => isText(ownMember(members, name) ?? "")) &&
    LISTS_OF_TEXTS.every((name) => {
      const list = ownMember(members, name) ?? [];
      return Array.isArray(list) && list.every(isText);
    })
  );
}

const UNREADABLE: SurfaceFacts = {
  isSurface: true,
  components: [],
  removed: [],
  surfaces: [],
  functionCalls: [],
  problems: [
    {
      code: "surface/unreadable",
      isUndecided: true,
      surfaceId: undefined,
      place: "",
      sentence: "The payload could not be read. Fix: send plain JSON within the limits.",
    },
  ],
};
