import { PLAIN_EVENT_TYPES } from "@countersign/core";
import type { JsonValue } from "@countersign/core";

/** The semantic types of events; `custom` also has a name. */
export const UI_EVENT_TYPES = [...PLAIN_EVENT_TYPES, "custom"] as const;

/** The semantic type of an event. */
export type UiEventType = (typeof UI_EVENT_TYPES)[number];

const KNOWN: ReadonlySet<string> = new Set(UI_EVENT_TYPES);

/** Whether a string is one of the eight event types. */
export function isUiEventType(value: unknown): value is UiEventType {
  return typeof value === "string" && KNOWN.has(value);
}

/** An event type in a policy or an envelope. */
export type NamedEventType = { readonly eventType: UiEventType; readonly customName?: string };

const QUOTED_CUSTOM = /^custom\("([^"]{1,256})"\)$/;

/**
 * Reads an event type in any of its forms: `text_stream`, `custom`, `custom:name`, `custom("name")`
 * (the guide's form) and `{"custom": "name"}` (Chio's JSON). `undefined` for anything else.
 */
export function readEventType(value: JsonValue | undefined): NamedEventType | undefined {
  if (typeof value === "string") {
    if (isUiEventType(value)) return { eventType: value };
    const quoted = QUOTED_CUSTOM.exec(value)?.[1];
    if (quoted !== undefined) return { eventType: "custom", customName: quoted };
    if (value.startsWith("custom:") && value.length > 7 && value.length <= 263) {
      return { eventType: "custom", customName: value.slice(7) };
    }
    return undefined;
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
  if (!Object.hasOwn(value, "custom") || Object.keys(value).length !== 1) return undefined;
  const name = value["custom"];
  return typeof name === "string" && name !== ""
    ? { eventType: "custom", customName: name }
    : undefined;
}

/** The form in a receipt: a string, or `{"custom": name}`. */
export function eventTypeToJson(type: NamedEventType): JsonValue {
  return type.eventType === "custom" && type.customName !== undefined
    ? { custom: type.customName }
    : type.eventType;
}
