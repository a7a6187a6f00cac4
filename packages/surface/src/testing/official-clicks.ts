import type { JsonValue } from "@countersign/core";
import {
  BASIC_COMPONENTS,
  BASIC_FUNCTIONS,
  Catalog,
  isComponentNode,
  MessageProcessor,
  NodeResolver,
  peekValue,
} from "@a2ui/web_core/v0_9";

const CATALOGUE = "https://a2ui.org/specification/v0_9/basic_catalog.json";

/** The messages of the official renderer when a person clicks everything on a surface, in the order of drawing. */
export function officialClicks(operations: readonly JsonValue[], surfaceId: string): JsonValue[] {
  const clicks: JsonValue[] = [];
  const catalogue = new Catalog(CATALOGUE, BASIC_COMPONENTS as never[], BASIC_FUNCTIONS as never[]);
  const processor = new MessageProcessor([catalogue as never], (action) => {
    clicks.push(JSON.parse(JSON.stringify(action)) as JsonValue);
  });
  processor.processMessages(structuredClone(operations) as never);
  const surface = processor.model.getSurface(surfaceId);
  if (surface === undefined) return clicks;
  const resolver = new NodeResolver(surface as never, catalogue as never);
  const visit = (value: unknown): void => {
    if (isComponentNode(value)) {
      const { props } = value as unknown as { props: { value: Readonly<Record<string, unknown>> } };
      const { action } = props.value;
      if (typeof action === "function") (action as () => void)();
      for (const inner of Object.values(props.value)) visit(inner);
    } else if (Array.isArray(value)) for (const inner of value) visit(inner);
  };
  visit(peekValue(resolver.rootNode));
  resolver.dispose();
  return clicks;
}
