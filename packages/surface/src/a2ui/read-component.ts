import { isJsonObject, setMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type {
  SurfaceAction,
  SurfaceFunctionCall,
  SurfaceInput,
  SurfaceUrl,
  UrlUse,
} from "../base/facts.js";
import { isKnownProperty, isSetting } from "./basic-catalogue.js";
import type { Definition } from "./definition.js";
import { coerced, shownAs } from "./functions.js";
import { absolutePath, escapeSegment, isDynamic, Resolver } from "./resolve.js";
import type { Resolved, Scope } from "./resolve.js";
import { dataSegments } from "./data-model.js";
import { textsAt, visibleTexts } from "./visible-parts.js";

/** A drawn component by itself, without its children. */
export interface OwnFacts {
  readonly resolved: JsonObject;
  /** Texts that its label is made of. */
  readonly labels: readonly string[];
  /** Those of them that are on the screen before a person opens anything. */
  readonly visibleLabels: readonly string[];
  readonly isLabelExact: boolean;
  readonly accessibilityLabel: string | undefined;
  readonly actions: readonly SurfaceAction[];
  readonly functionCalls: readonly SurfaceFunctionCall[];
  readonly urls: readonly SurfaceUrl[];
  readonly inputs: readonly SurfaceInput[];
  readonly texts: readonly string[];
  /** Data paths that its values are read from. */
  readonly paths: ReadonlySet<string>;
  /** Data paths that its inputs write to. */
  readonly inputPaths: readonly string[];
}

const ADDRESS = /^\s*(?:[a-z][a-z\d+.-]*:|\/\/|\\\\)/i;
const ADDRESS_KEY = /ur[il]|href|src|link|image|icon|poster/i;

/** Reads one drawn component: every text that it shows, every URL that it loads or opens. */
export function readComponent(definition: Definition, scope: Scope): OwnFacts {
  return new ComponentReader(definition, scope).read();
}

class ComponentReader {
  readonly #definition: Definition;
  readonly #scope: Scope;
  readonly #resolver: Resolver;
  readonly #childIds: ReadonlySet<string>;
  readonly #labels: string[] = [];
  readonly #texts = new Set<string>();
  readonly #urls: SurfaceUrl[] = [];
  readonly #actions: SurfaceAction[] = [];
  readonly #bindings = new Map<string, string>();
  #isLabelExact = true;
  #textLength = 0;

  constructor(definition: Definition, scope: Scope) {
    this.#definition = definition;
    this.#scope = scope;
    this.#resolver = new Resolver(scope);
    this.#childIds = new Set(
      definition.references.flatMap(({ id, isCertain }) =>
        isCertain || scope.isComponent(id) ? id : [],
      ),
    );
  }

  read(): OwnFacts {
    const { props } = this.#definition;
    const resolved: JsonObject = {};
    for (const [key, value] of Object.entries(props)) {
      const pointer = `/${escapeSegment(key)}`;
      const read = this.#property(key, value, pointer, key, isSilent(key));
      // Renderers evaluate the conditions of checks, and keep the rules as they are.
      setMember(resolved, key, key === "checks" ? value : (read ?? null));
    }
    this.#readCallUrls();
    const inputs = this.#inputs(resolved);
    const accessibility = resolved["accessibility"];
    const spoken = isJsonObject(accessibility) ? accessibility["label"] : undefined;
    const { table, type } = this.#definition;
    const labels = [...this.#orderedLabels(resolved), ...this.#labels];
    return {
      resolved,
      labels,
      // The drawing of other catalogues is not known here.
      visibleLabels:
        table === undefined ? labels : visibleTexts(type, resolved, this.#scope.isLegacy),
      isLabelExact: this.#isLabelExact,
      accessibilityLabel: spoken === undefined || spoken === null ? undefined : shownAs(spoken),
      actions: this.#actions,
      functionCalls: this.#resolver.calls,
      urls: this.#urls,
      inputs,
      texts: [...this.#texts],
      paths: this.#resolver.paths,
      inputPaths: inputs.flatMap(({ boundPath }) => (boundPath === undefined ? [] : [boundPath])),
    };
  }

  /** A property, or a value below it, after bindings; notes what a person reads and loads. */
  #property(
    key: string,
    value: JsonValue,
    pointer: string,
    tablePath: string,
    isAside: boolean,
  ): JsonValue | undefined {
    this.#scope.work.step();
    if (this.#scope.work.isOver) return null;
    if (isAction(value)) return this.#action(value, pointer);
    if (isTemplate(value)) return value;
    if (isDynamic(value)) {
      const path = value["path"];
      if (typeof path === "string") this.#bindings.set(tablePath, path);
      const resolved = this.#resolver.resolve(value, pointer);
      this.#shown(key, resolved, pointer, tablePath, isAside);
      return resolved.value;
    }
    if (Array.isArray(value)) {
      return value.map(
        (item, index) =>
          this.#property(key, item, `${pointer}/${index}`, tablePath, isAside) ?? null,
      );
    }
    if (isJsonObject(value)) {
      const copy: JsonObject = {};
      for (const [inner, item] of Object.entries(value)) {
        const below = `${pointer}/${escapeSegment(inner)}`;
        const resolved = this.#property(inner, item, below, `${tablePath}/${inner}`, isAside);
        setMember(copy, inner, resolved ?? null);
      }
      return copy;
    }
    this.#shown(key, literal(value), pointer, tablePath, isAside);
    return value;
  }

  #shown(
    key: string,
    resolved: Resolved,
    pointer: string,
    tablePath: string,
    isAside: boolean,
  ): void {
    const { table } = this.#definition;
    const { value } = resolved;
    const isChild = typeof value === "string" && this.#childIds.has(value);
    const isBasicSetting = table !== undefined && isSetting(key);
    if (isBasicSetting && typeof value === "string") return;
    const text = shownAs(value);
    const use = this.#urlUse(key, text, tablePath);
    // A browser loads the items of a list, joined; another client may refuse it.
    const isContainer = typeof value === "object" && value !== null;
    const forms = isContainer ? [text, coerced(value)] : [text];
    if (use !== undefined) {
      for (const form of forms) {
        this.#urls.push({
          value: form,
          use,
          path: pointer,
          dataPaths: resolved.paths,
          isExact: resolved.isExact,
        });
      }
      if (!resolved.isExact && !resolved.paths.some((path) => this.#scope.isInputPath(path)))
        this.#unknownUrl();
    }
    // A list that is bound is a list of texts: of choices, of rows.
    const isAssumed = table === undefined || !isKnownProperty(table, tablePath.split("/")[0] ?? "");
    const isLabel = isAssumed ? !isAside && !isChild : (table.labels?.includes(tablePath) ?? false);
    if (isLabel) {
      // Clients show lists, objects and booleans in different ways, or not at all.
      const isPlain = !isContainer && typeof value !== "boolean";
      if (!resolved.isExact || !isPlain) this.#isLabelExact = false;
      if (isAssumed && typeof value === "string") this.#labels.push(text);
    }
    if (typeof value === "boolean" || isChild || text === "") return;
    if (typeof value === "number" && !isLabel) return;
    for (const form of forms) this.#text(form);
    for (const alternative of resolved.alternatives) this.#text(alternative);
  }

  #text(text: string): void {
    if (text === "" || this.#texts.has(text)) return;
    this.#textLength += text.length;
    this.#scope.work.spend(text.length);
    if (this.#textLength > this.#scope.limits.maxTextLength) {
      const { problems, surfaceId, place } = this.#scope;
      problems.add(
        "surface/over-limit",
        true,
        surfaceId,
        place,
        "The texts of a component are longer than allowed. Fix: shorten them, or raise maxTextLength.",
      );
      return;
    }
    this.#texts.add(text);
  }

  #urlUse(key: string, text: string, tablePath: string): UrlUse | undefined {
    const { table } = this.#definition;
    const known = table?.urls?.get(tablePath);
    if (known !== undefined) return known;
    if (text === "" || (table?.labels?.includes(tablePath) ?? false)) return undefined;
    if (table !== undefined)
      return ADDRESS_KEY.test(key) && ADDRESS.test(text) ? "load" : undefined;
    return ADDRESS.test(text) && (/^\S+$/.test(text.trim()) || ADDRESS_KEY.test(key))
      ? "load"
      : undefined;
  }

  #action(value: JsonObject, pointer: string): JsonValue {
    const { event, functionCall } = value;
    if (isJsonObject(event)) {
      const context: JsonObject = {};
      for (const [key, item] of Object.entries(
        isJsonObject(event["context"]) ? event["context"] : {},
      )) {
        const below = `${pointer}/event/context/${escapeSegment(key)}`;
        const resolved = this.#resolver.resolve(item, below).value;
        setMember(context, key, resolved ?? null);
      }
      this.#actions.push({
        name: shownAs(event["name"]),
        kind: "event",
        contextKeys: Object.keys(context),
        context,
        path: pointer,
      });
    }
    if (isJsonObject(functionCall)) {
      const { args } = this.#resolver.call(functionCall, `${pointer}/functionCall`);
      this.#actions.push({
        name: shownAs(functionCall["call"]),
        kind: "function",
        contextKeys: Object.keys(args),
        context: args,
        path: pointer,
      });
    }
    return value;
  }

  /** Addresses among the arguments of functions: `openUrl` also opens while a text is drawn. */
  #readCallUrls(): void {
    for (const { name, args, path, isBasic } of this.#resolver.calls) {
      for (const [key, argument] of Object.entries(args)) {
        const isOpened = name === "openUrl" && key === "url";
        // Renderers coerce what they open; a function of another catalogue may read any text of its arguments.
        const texts = isOpened ? [coerced(argument)] : isBasic ? [] : textsIn(argument, key);
        for (const value of texts) {
          const { paths, isExact } = this.#argumentOf(path, key);
          this.#urls.push({
            value,
            use: "open",
            path: `${path}/args/${escapeSegment(key)}`,
            dataPaths: paths,
            isExact,
          });
        }
      }
    }
  }

  /** The source of an argument of an action's call; inside expressions all paths of the component. */
  #argumentOf(pointer: string, key: string): { paths: readonly string[]; isExact: boolean } {
    let current: JsonValue | undefined = this.#definition.props;
    for (const segment of `${pointer.slice(1)}/args/${escapeSegment(key)}`.split("/")) {
      const name = segment.replaceAll("~1", "/").replaceAll("~0", "~");
      current = Array.isArray(current)
        ? current[+name]
        : isJsonObject(current) && Object.hasOwn(current, name)
          ? current[name]
          : undefined;
    }
    if (current === undefined) return { paths: [...this.#resolver.paths], isExact: true };
    const before = this.#resolver.calls.length;
    const { paths, isExact } = this.#resolver.resolve(current, pointer);
    this.#resolver.calls.length = before;
    if (!isExact && !paths.some((path) => this.#scope.isInputPath(path))) this.#unknownUrl();
    return { paths, isExact };
  }

  #unknownUrl(): void {
    const { problems, surfaceId, place } = this.#scope;
    problems.add(
      "surface/unknown-url",
      true,
      surfaceId,
      place,
      "A URL depends on a function whose value is not known here. Fix: send the URL as text.",
    );
  }

  /** Labels of a basic component in the order of its table, so that two renderers read the same. */
  #orderedLabels(resolved: JsonObject): readonly string[] {
    return textsAt(this.#definition.table?.labels ?? [], resolved, shownAs);
  }

  #inputs(resolved: JsonObject): SurfaceInput[] {
    const { table, id, type } = this.#definition;
    const input = table?.input;
    if (input === undefined && table !== undefined) return [];
    const bound = (input?.values ?? [...this.#bindings.keys()]).find((name) =>
      this.#bindings.has(name),
    );
    // A component of another catalogue may write to whatever it is bound to.
    const isTyped =
      input !== undefined || /field|input|picker|select|form|editor|check|slider/i.test(type);
    if (!isTyped) return [];
    const labels = [...this.#orderedLabels(resolved), ...this.#labels];
    const variant = shownAs(resolved["variant"] ?? resolved["textFieldType"] ?? resolved["type"]);
    const isSecret = /obscured|password|secret/i.test(variant);
    const hints = [...this.#texts].filter((text) => text !== labels[0]);
    return [
      {
        label: labels[0] ?? "",
        id,
        boundPath: bound === undefined ? undefined : this.#boundPath(bound),
        type:
          table === undefined
            ? "unknown"
            : input?.type === "text" && variant !== "" && variant !== "shortText"
              ? variant
              : (input?.type ?? "unknown"),
        isSecret,
        hints,
      },
    ];
  }

  #boundPath(name: string): string | undefined {
    const { path, isLegacy } = this.#scope;
    const segments = dataSegments(
      absolutePath(this.#bindings.get(name) ?? "", path, isLegacy),
      isLegacy,
    );
    return segments && `/${segments.map(escapeSegment).join("/")}`;
  }
}

/** The addresses in an argument. */
function textsIn(value: JsonValue, key: string): string[] {
  if (typeof value === "string") {
    return ADDRESS_KEY.test(key) || ADDRESS.test(value) ? [value] : [];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    textsIn(item, Array.isArray(value) ? key : name),
  );
}

/** Properties that no label is made of. */
function isSilent(key: string): boolean {
  return key === "accessibility" || key === "checks" || key === "weight" || key === "metadata";
}

function literal(value: JsonValue): Resolved {
  return { value, paths: [], alternatives: [], isExact: true };
}

function isTemplate(value: JsonValue): boolean {
  return (
    isJsonObject(value) &&
    typeof value["componentId"] === "string" &&
    typeof value["path"] === "string"
  );
}

function isAction(value: JsonValue): value is JsonObject {
  if (!isJsonObject(value)) return false;
  const { event, functionCall } = value;
  return (
    (isJsonObject(event) && Object.hasOwn(event, "name")) ||
    (isJsonObject(functionCall) && Object.hasOwn(functionCall, "call"))
  );
}
