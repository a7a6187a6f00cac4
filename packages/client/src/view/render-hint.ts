import { isJsonObject, ownMember } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import { stringMember } from "../base/string-member.js";

/** The CUSTOM event that carries a `UI_RENDER_HINT` of the 0.1.0 dialect. */
export const RENDER_HINT_NAME = "countersign.ui_render_hint";

/** The agent's wish to show a component. It chooses the name and the values; the page chooses what they mean. */
export type RenderHintView = {
  /** Unique in this store. */
  readonly id: string;
  readonly component: string;
  readonly props: JsonObject;
  /** The run that asked for it. */
  readonly runId?: string;
  /** The last message when it came, so that it can be shown in its place. */
  readonly afterMessageId?: string;
};

/** The components of a page, by name. */
export type ComponentMap<Component> =
  | { readonly [name: string]: Component }
  | ReadonlyMap<string, Component>;

/** Checks or narrows the agent's values for a component; nothing means that it is not shown. */
export type AcceptHint = (hint: RenderHintView) => JsonObject | undefined;

/** A component to show, with the values to give it. */
export type ResolvedHint<Component> = { readonly component: Component; readonly props: JsonObject };

/**
 * Names that a component would not take for data: markup that is not escaped, what the framework itself
 * reads, handlers and slots.
 */
const WITHHELD =
  /^(?:dangerouslySetInnerHTML|innerHTML|outerHTML|srcdoc|key|ref|children|\$\$.*|on.*|__proto__)$/i;

/** The component that a page has for a hint; `undefined` when it knows none of that name. */
export function resolveRenderHint<Component>(
  hint: RenderHintView,
  components: ComponentMap<Component>,
  accept?: AcceptHint,
): ResolvedHint<Component> | undefined {
  const component = find(components, hint.component);
  if (component === undefined) return undefined;
  const accepted = accept === undefined ? hint.props : accept(hint);
  if (accepted === undefined) return undefined;
  const entries = Object.entries(accepted).filter(([name]) => !WITHHELD.test(name));
  return { component, props: Object.fromEntries(entries) };
}

function find<Component>(components: ComponentMap<Component>, name: string): Component | undefined {
  if (components instanceof Map) return components.get(name) as Component | undefined;
  // The agent may name `constructor`.
  return Object.hasOwn(components, name)
    ? (components as { readonly [name: string]: Component })[name]
    : undefined;
}

/** The component and values that an event asks for. */
export function renderHintOf(
  event: AgUiEvent,
): Pick<RenderHintView, "component" | "props"> | undefined {
  if (event.type !== "CUSTOM" || event.name !== RENDER_HINT_NAME) return undefined;
  const component = stringMember(event.value, "component");
  if (component === undefined) return undefined;
  const props = ownMember(event.value, "props");
  return { component, props: isJsonObject(props) ? props : {} };
}
