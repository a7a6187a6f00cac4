import {
  BASIC_COMPONENTS,
  BASIC_FUNCTIONS,
  Catalog,
  isComponentNode,
  MessageProcessor,
  NodeResolver,
  peekValue,
  ResolvedBinding,
} from "@a2ui/web_core/v0_9";

/** A component as the official renderer draws it. */
export interface OfficialNode {
  readonly key: string;
  readonly type: string;
  readonly texts: readonly string[];
  readonly url: string | undefined;
  readonly action: { readonly name: string; readonly context: unknown } | undefined;
  readonly label: string;
}

const CATALOGUE = "https://a2ui.org/specification/v0_9/basic_catalog.json";
const LABELS: Readonly<Record<string, readonly string[]>> = {
  Text: ["text"],
  Image: ["description"],
  Icon: ["name"],
  TextField: ["label"],
  CheckBox: ["label"],
  Slider: ["label"],
};

/** The official processor and node resolver of `@a2ui/web_core`, read as plain data. */
export class OfficialRenderer {
  readonly #catalogue = new Catalog(
    CATALOGUE,
    BASIC_COMPONENTS as never[],
    BASIC_FUNCTIONS as never[],
  );
  readonly #processor: MessageProcessor<never>;
  #action: { name: string; context: unknown } | undefined;

  constructor() {
    this.#processor = new MessageProcessor([this.#catalogue as never], (action) => {
      const { name, context } = action as unknown as { name: string; context: unknown };
      this.#action = { name, context };
    });
  }

  process(operation: unknown): void {
    this.#processor.processMessages([structuredClone(operation)] as never);
  }

  /** The drawn components by id and data path; `isCyclic` when one contains itself. */
  nodes(surfaceId: string): { nodes: Map<string, OfficialNode>; isCyclic: boolean } {
    const nodes = new Map<string, OfficialNode>();
    const surface = this.#processor.model.getSurface(surfaceId);
    if (surface === undefined) return { nodes, isCyclic: false };
    const resolver = new NodeResolver(surface as never, this.#catalogue as never);
    let isCyclic = false;
    const visit = (node: Node): string => {
      if (node.state === "cyclic") isCyclic = true;
      if (node.isPlaceholder) return "";
      const props = node.props.value as Record<string, unknown>;
      const texts = (LABELS[node.type] ?? []).map((name) => shown(props[name])).filter(Boolean);
      const children = Object.entries(props).flatMap(([, value]) => childNodes(value));
      const label = [...texts, ...children.map(visit)].filter(Boolean).join(" ");
      const url = shown(props["url"]);
      nodes.set(`${node.componentId}\n${node.dataPath}`, {
        key: `${node.componentId}\n${node.dataPath}`,
        type: node.type,
        texts,
        url: url === "" ? undefined : url,
        action: this.#click(props["action"]),
        label,
      });
      return label;
    };
    const root = peekValue(resolver.rootNode) as unknown as Node | undefined;
    if (root !== undefined) visit(root);
    resolver.dispose();
    return { nodes, isCyclic };
  }

  #click(action: unknown): { name: string; context: unknown } | undefined {
    this.#action = undefined;
    if (typeof action === "function") action();
    return this.#action;
  }
}

interface Node {
  readonly componentId: string;
  readonly dataPath: string;
  readonly type: string;
  readonly state: string;
  readonly isPlaceholder: boolean;
  readonly props: { readonly value: unknown };
}

function childNodes(value: unknown): Node[] {
  if (isComponentNode(value)) return [value as unknown as Node];
  if (Array.isArray(value)) return value.flatMap(childNodes);
  if (typeof value === "object" && value !== null && !(value instanceof ResolvedBinding)) {
    return Object.values(value).flatMap(childNodes);
  }
  return [];
}

function shown(value: unknown): string {
  const plain = value instanceof ResolvedBinding ? (value.value as unknown) : value;
  if (plain === undefined || plain === null) return "";
  return typeof plain === "object" ? JSON.stringify(plain) : String(plain as string);
}
