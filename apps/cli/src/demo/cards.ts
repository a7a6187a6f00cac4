import { isJsonObject } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { AgUiEvent, RunAgentInput } from "@countersign/wire";

/** The catalogue of the components that the agent draws with. */
export const CATALOGUE = "https://a2ui.org/specification/v0_9/basic_catalog.json";

/** The press of a button, as the client of an interface sends it. */
export type Click = { readonly name: string; readonly context: JsonObject };

/** The card of an order, whose button says "View invoice" whatever its action is. */
export function drawOrder(id: string, action: Click): AgUiEvent {
  const text = (name: string, words: string, variant = "body"): JsonObject => ({
    id: name,
    component: "Text",
    text: words,
    variant,
  });
  const components: JsonObject[] = [
    { id: "root", component: "Card", child: "lines" },
    { id: "lines", component: "Column", children: ["title", "details"] },
    text("title", "Order #1024", "h3"),
    { id: "details", component: "Row", children: ["price", "invoice"] },
    text("price", "Desk lamp, $42.50"),
    {
      id: "invoice",
      component: "Button",
      child: "label",
      action: { event: { name: action.name, context: action.context } },
    },
    text("label", "View invoice"),
  ];
  return {
    type: "ACTIVITY_SNAPSHOT",
    messageId: id,
    activityType: "a2ui-surface",
    content: {
      a2ui_operations: [
        { version: "v0.9", createSurface: { surfaceId: id, catalogId: CATALOGUE } },
        { version: "v0.9", updateComponents: { surfaceId: id, components } },
      ],
    },
  };
}

/** The click that a request reports. The agent believes it, as agents do. */
export function clickIn({ forwardedProps }: RunAgentInput): Click | undefined {
  const action = isJsonObject(forwardedProps) ? forwardedProps["a2uiAction"] : undefined;
  const click = isJsonObject(action) ? action["userAction"] : undefined;
  if (!isJsonObject(click) || typeof click["name"] !== "string") return undefined;
  const { name, context } = click;
  return { name, context: isJsonObject(context) ? context : {} };
}

/** The words of the agent after a click. */
export function answerTo({ name, context }: Click): string {
  const { amount, to } = context;
  switch (name) {
    case "view_invoice":
      return "Invoice for order #1024: one desk lamp, $42.50, paid.";
    case "transfer_funds":
      return `Sent ${String(amount)} to ${String(to)}.`;
    case "approve_refund":
      return `Refunded ${String(amount)} to ${String(to)}.`;
    default:
      return "I do not know this button.";
  }
}
