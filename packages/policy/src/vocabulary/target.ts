/**
 * The part of the user interface that an event targets. Member names as on the wire, because
 * receipts contain them.
 */
export type Target = { readonly component_type: string; readonly component_id?: string };

/** `type` or `type:id`, for people to read. */
export function formatTarget(target: Target | undefined): string {
  if (target === undefined) return "no target";
  return target.component_id === undefined
    ? target.component_type
    : `${target.component_type}:${target.component_id}`;
}

/** Reads `type` or `type:id`; only the first colon separates, ids may contain more. */
export function parseTarget(text: string): Target | undefined {
  const colon = text.indexOf(":");
  if (colon === -1) return text === "" ? undefined : { component_type: text };
  if (colon === 0 || colon === text.length - 1) return undefined;
  return { component_type: text.slice(0, colon), component_id: text.slice(colon + 1) };
}

/** Types of generative UI have a colon of their own: `a2ui:Button`, `mcp-app:ui://…`. */
const FAMILIES = ["a2ui:", "mcp-app:", "html-sandbox:"] as const;

/**
 * A target as `type:id` lists and scopes read it, where the first colon separates: `a2ui:Button`
 * with id `s1/b` is the type `a2ui` with id `Button:s1/b`. Undefined for targets without a family.
 */
export function targetByFamily(target: Target): Required<Target> | undefined {
  const { component_type: type, component_id: id } = target;
  const family = FAMILIES.find((prefix) => type.startsWith(prefix));
  if (family === undefined) return undefined;
  const name = type.slice(family.length);
  return {
    component_type: family.slice(0, -1),
    component_id: id === undefined ? name : `${name}:${id}`,
  };
}
