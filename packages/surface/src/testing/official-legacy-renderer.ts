import { A2uiMessageProcessor } from "@a2ui/web_core/v0_8";
import type { OfficialNode } from "./official-renderer.js";

type Tree = {
  id: string;
  type: string;
  dataContextPath: string;
  properties: Record<string, unknown>;
};

const LABELS: Readonly<Record<string, string>> = {
  Text: "text",
  Image: "altText",
  TextField: "label",
};

/** The official processor of A2UI 0.8, read as plain data. */
export class OfficialLegacyRenderer {
  readonly #processor = new A2uiMessageProcessor();

  process(operation: unknown): void {
    this.#processor.processMessages([structuredClone(operation)] as never);
  }

  nodes(surfaceId: string): Map<string, OfficialNode> {
    const nodes = new Map<string, OfficialNode>();
    const tree = this.#processor.getSurfaces().get(surfaceId)?.componentTree as unknown;
    if (isTree(tree)) this.#visit(tree, nodes);
    return nodes;
  }

  #visit(node: Tree, nodes: Map<string, OfficialNode>): string {
    const { type, properties, dataContextPath } = node;
    // In a template the id has the positions appended.
    const key = `${node.id.split(":")[0]}\n${dataContextPath}`;
    const text = this.#text(node, properties[LABELS[type] ?? ""]);
    const children = Object.entries(properties).flatMap(([name, value]) =>
      name === "action" ? [] : childrenOf(value),
    );
    const label = [text, ...children.map((child) => this.#visit(child, nodes))]
      .filter(Boolean)
      .join(" ");
    const url = this.#text(node, properties["url"]);
    const action = properties["action"] as
      | { name: string; context?: { key: string; value: unknown }[] }
      | undefined;
    const context = Object.fromEntries(
      (action?.context ?? []).map(({ key: name, value }) => [name, this.#value(node, value)]),
    );
    nodes.set(key, {
      key,
      type,
      texts: [text].filter(Boolean),
      url: url === "" ? undefined : url,
      action: action && { name: action.name, context },
      label,
    });
    return label;
  }

  #value(node: Tree, value: unknown): unknown {
    if (typeof value !== "object" || value === null) return undefined;
    const { path, literalString } = value as { path?: string; literalString?: string };
    if (path === undefined) return literalString;
    return asJson(this.#processor.getData(node as never, path, "s"));
  }

  #text(node: Tree, value: unknown): string {
    const data = this.#value(node, value);
    if (data === undefined || data === null) return "";
    return typeof data === "object" ? JSON.stringify(data) : String(data as string);
  }
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && "dataContextPath" in value;
}

function childrenOf(value: unknown): Tree[] {
  if (isTree(value)) return [value];
  if (Array.isArray(value)) return value.flatMap(childrenOf);
  return typeof value === "object" && value !== null
    ? Object.values(value).flatMap(childrenOf)
    : [];
}

function asJson(value: unknown): unknown {
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([key, inner]) => [key as string, asJson(inner)]));
  }
  return Array.isArray(value) ? value.map(asJson) : value;
}
