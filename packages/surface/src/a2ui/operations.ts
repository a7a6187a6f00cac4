import { isJsonObject } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { named } from "../base/problems.js";
import type { Problems } from "../base/problems.js";
import { fromLegacy, legacyData } from "./legacy.js";

/** A component of an operation: the type is undefined when only properties are sent. */
export interface ComponentUpdate {
  readonly id: string;
  readonly type: string | undefined;
  readonly props: JsonObject;
  readonly catalogueId: string | undefined;
}

/** One operation of A2UI 0.8, 0.9 or 1.0 in one form. */
export type Operation = {
  readonly surfaceId: string;
  readonly isLegacy: boolean;
  readonly version: string;
  readonly place: string;
} & (
  | {
      readonly kind: "create";
      readonly rootId: string;
      readonly catalogueId: string | undefined;
      readonly theme: JsonValue | undefined;
      readonly sendDataModel: boolean;
    }
  | { readonly kind: "components"; readonly components: readonly ComponentUpdate[] }
  | { readonly kind: "data"; readonly path: string; readonly value: JsonValue | undefined }
  | { readonly kind: "delete" }
  | { readonly kind: "call"; readonly call: JsonObject }
);

type Decode = (payload: JsonObject, operation: JsonObject, context: Context) => Operation[];
type Context = { readonly place: string; readonly problems: Problems };

/** The id of a surface that names none, as in renderers. */
const DEFAULT_SURFACE = "default";
const VERSIONS: ReadonlyMap<JsonValue | undefined, string> = new Map<JsonValue | undefined, string>(
  [
    ["v0.8", "0.8"],
    ["0.8", "0.8"],
    ["v0.9", "0.9"],
    ["0.9", "0.9"],
    ["v0.9.1", "0.9"],
    ["v1.0", "1.0"],
    ["1.0", "1.0"],
  ],
);

const OPERATIONS: ReadonlyMap<string, { readonly version: string; readonly decode: Decode }> =
  new Map([
    [
      "createSurface",
      {
        version: "0.9",
        decode: (payload: JsonObject, operation: JsonObject, context: Context): Operation[] => {
          const common = commonOf(payload, operation, context, false);
          const { components, dataModel } = payload;
          return [
            {
              ...common,
              kind: "create",
              rootId: "root",
              catalogueId: textOf(payload["catalogId"]),
              theme: payload["theme"],
              sendDataModel: payload["sendDataModel"] === true,
            },
            ...(dataModel === undefined
              ? []
              : [{ ...common, kind: "data" as const, path: "/", value: dataModel }]),
            ...(components === undefined
              ? []
              : [
                  {
                    ...common,
                    kind: "components" as const,
                    components: readComponents(components, false, context),
                  },
                ]),
          ];
        },
      },
    ],
    [
      "updateComponents",
      {
        version: "0.9",
        decode: (payload, operation, context) => [
          {
            ...commonOf(payload, operation, context, false),
            kind: "components",
            components: readComponents(payload["components"], false, context),
          },
        ],
      },
    ],
    [
      "updateDataModel",
      {
        version: "0.9",
        decode: (payload, operation, context) => {
          const common = commonOf(payload, operation, context, false);
          const { path, value } = payload;
          if (path !== undefined && typeof path !== "string")
            malformed(context, "The path of updateDataModel is not a string.");
          const isRemoved = value === undefined || (value === null && common.version === "1.0");
          return [
            {
              ...common,
              kind: "data",
              path: textOf(path) ?? "/",
              value: isRemoved ? undefined : value,
            },
          ];
        },
      },
    ],
    [
      "deleteSurface",
      {
        version: "0.9",
        decode: (payload, operation, context) => [
          { ...commonOf(payload, operation, context, false), kind: "delete" },
        ],
      },
    ],
    ["callFunction", { version: "1.0", decode: decodeCall }],
    [
      "callRendererFunction",
      {
        version: "1.0",
        decode: (payload, operation, context) => {
          const { callFunction } = payload;
          return decodeCall(
            isJsonObject(callFunction) ? callFunction : payload,
            operation,
            context,
          );
        },
      },
    ],
    [
      "beginRendering",
      {
        version: "0.8",
        decode: (payload, operation, context) => [
          {
            ...commonOf(payload, operation, context, true),
            kind: "create",
            rootId: textOf(payload["root"]) ?? "root",
            catalogueId: textOf(payload["catalogId"]),
            theme: payload["styles"],
            sendDataModel: payload["sendDataModel"] === true,
          },
        ],
      },
    ],
    [
      "surfaceUpdate",
      {
        version: "0.8",
        decode: (payload, operation, context) => [
          {
            ...commonOf(payload, operation, context, true),
            kind: "components",
            components: readComponents(payload["components"], true, context),
          },
        ],
      },
    ],
    [
      "dataModelUpdate",
      {
        version: "0.8",
        decode: (payload, operation, context) => [
          {
            ...commonOf(payload, operation, context, true),
            kind: "data",
            path: textOf(payload["path"]) ?? "/",
            value: legacyData(payload["contents"] ?? payload["value"] ?? []),
          },
        ],
      },
    ],
  ]);

/** Whether a value has the form of an A2UI operation. */
export function isOperation(value: JsonValue | undefined): boolean {
  return isJsonObject(value) && Object.keys(value).some((key) => OPERATIONS.has(key));
}

/** Reads one operation; what is not one is a problem, since a client may know it. */
export function readOperation(
  operation: JsonValue,
  place: string,
  problems: Problems,
): Operation[] {
  const context = { place, problems };
  if (!isJsonObject(operation)) {
    malformed(context, "An operation is not an object.");
    return [];
  }
  const kinds = Object.keys(operation).filter((key) => OPERATIONS.has(key));
  if (kinds.length === 0) {
    problems.add(
      "surface/unknown-operation",
      true,
      undefined,
      place,
      "The operation has no known kind. Fix: send createSurface, updateComponents, updateDataModel or deleteSurface.",
    );
  }
  if (kinds.length > 1) {
    problems.add(
      "surface/ambiguous-operation",
      true,
      undefined,
      place,
      `The operation has ${kinds.length} kinds; clients apply one of them or none. Fix: send one operation for each.`,
    );
  }
  return kinds.flatMap((kind) => {
    const payload = operation[kind];
    if (isJsonObject(payload))
      return OPERATIONS.get(kind)?.decode(payload, operation, context) ?? [];
    malformed(context, `The value of ${kind} is not an object.`);
    return [];
  });
}

function commonOf(payload: JsonObject, operation: JsonObject, context: Context, isLegacy: boolean) {
  const given = operation["version"];
  const version = VERSIONS.get(given);
  if (given !== undefined && version === undefined) {
    context.problems.add(
      "surface/unknown-version",
      true,
      undefined,
      context.place,
      "The operation has an unknown version. Fix: send v0.9 or v1.0.",
    );
  }
  const surfaceId = textOf(payload["surfaceId"]) ?? textOf(operation["surfaceId"]);
  if (surfaceId === undefined) {
    context.problems.add(
      "surface/malformed-operation",
      false,
      DEFAULT_SURFACE,
      context.place,
      `The operation names no surface; clients ignore it or use ${named(DEFAULT_SURFACE)}.`,
    );
  }
  return {
    surfaceId: surfaceId ?? DEFAULT_SURFACE,
    isLegacy,
    version: version ?? (isLegacy ? "0.8" : "0.9"),
    place: context.place,
  };
}

function decodeCall(payload: JsonObject, operation: JsonObject, context: Context): Operation[] {
  const common = {
    surfaceId: textOf(operation["surfaceId"]) ?? DEFAULT_SURFACE,
    isLegacy: false,
    version: "1.0",
    place: context.place,
  };
  const { call, args = {} } = payload;
  if (typeof call === "string" && isJsonObject(args))
    return [{ ...common, kind: "call", call: payload }];
  malformed(context, "A function call has no name, or its arguments are not an object.");
  return [];
}

function readComponents(
  components: JsonValue | undefined,
  isLegacy: boolean,
  context: Context,
): ComponentUpdate[] {
  if (!Array.isArray(components)) {
    malformed(context, "The components of an operation are not a list.");
    return [];
  }
  return components.flatMap((component) => readComponentUpdate(component, isLegacy, context));
}

function readComponentUpdate(
  component: JsonValue,
  isLegacy: boolean,
  context: Context,
): ComponentUpdate[] {
  if (!isJsonObject(component) || typeof component["id"] !== "string" || component["id"] === "") {
    malformed(context, "A component has no id.");
    return [];
  }
  const { id, component: type, catalogId, ...rest } = component;
  const catalogueId = textOf(catalogId);
  if (!isJsonObject(type)) return [{ id, type: textOf(type), props: rest, catalogueId }];
  // The form of 0.8: the only key is the type, its value the properties.
  const [name, ...others] = Object.keys(type);
  const props = name === undefined ? undefined : type[name];
  if (name === undefined || others.length > 0 || !isJsonObject(props)) {
    malformed(context, `The component ${named(id)} has not exactly one type.`);
    return [];
  }
  const read = isLegacy ? fromLegacy(props) : props;
  return [{ id, type: name, props: { ...rest, ...(isJsonObject(read) ? read : {}) }, catalogueId }];
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function malformed({ problems, place }: Context, sentence: string): void {
  problems.add("surface/malformed-operation", true, undefined, place, sentence);
}
