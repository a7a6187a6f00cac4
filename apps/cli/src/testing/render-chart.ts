import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";

/** The part of Go templates that our chart uses; another construct is an error, so that the chart stays within it. */
type Scope = { readonly dot: unknown; readonly root: ChartContext };
type Node =
  | { readonly text: string }
  | { readonly pipeline: string }
  | { readonly block: "if" | "with"; readonly pipeline: string; readonly body: readonly Node[] };

/** The objects that a template sees. */
export type ChartContext = {
  readonly Values: object;
  readonly Release: { readonly Name: string; readonly Service: string };
  readonly Chart: { readonly AppVersion: string };
};

/** Renders every template of a chart by name. */
export function renderChart(folder: string, context: ChartContext): Map<string, string> {
  const names = readdirSync(join(folder, "templates")).toSorted();
  const defined = new Map<string, readonly Node[]>();
  const parsed = new Map<string, readonly Node[]>();
  for (const name of names) {
    parsed.set(name, parse(readFileSync(join(folder, "templates", name), "utf8"), defined));
  }
  const renderer = new Renderer(folder, defined);
  const rendered = [...parsed]
    .filter(([name]) => !name.startsWith("_"))
    .map(
      ([name, nodes]) => [name, renderer.render(nodes, { dot: context, root: context })] as const,
    );
  return new Map(rendered);
}

const ACTION = /\{\{(-?)\s*(.*?)\s*(-?)\}\}/gsu;

function parse(text: string, defined: Map<string, readonly Node[]>): readonly Node[] {
  const root: Node[] = [];
  const open: { body: Node[]; close(): void }[] = [{ body: root, close: () => {} }];
  const top = (): { body: Node[]; close(): void } => {
    const last = open.at(-1);
    if (last === undefined) throw new TypeError("end without a block");
    return last;
  };
  let from = 0;
  let trimsNext = false;
  const addText = (piece: string, trimsEnd: boolean): void => {
    let kept = trimsNext ? piece.trimStart() : piece;
    if (trimsEnd) kept = kept.trimEnd();
    top().body.push({ text: kept });
  };
  for (const match of text.matchAll(ACTION)) {
    const [whole, before, action = "", after] = match;
    addText(text.slice(from, match.index), before === "-");
    from = match.index + whole.length;
    trimsNext = after === "-";
    const [, word, rest = ""] = /^(if|with|define|end)\b\s*(.*)$/su.exec(action) ?? [];
    if (word === undefined) top().body.push({ pipeline: action });
    else if (word === "end") {
      top().close();
      open.pop();
    } else {
      const body: Node[] = [];
      const parent = top();
      const close =
        word === "define"
          ? () => void defined.set(JSON.parse(rest) as string, body)
          : () => void parent.body.push({ block: word as "if" | "with", pipeline: rest, body });
      open.push({ body, close });
    }
  }
  addText(text.slice(from), false);
  if (open.length !== 1) throw new TypeError("a block has no end");
  return root;
}

class Renderer {
  readonly #folder: string;
  readonly #defined: ReadonlyMap<string, readonly Node[]>;

  constructor(folder: string, defined: ReadonlyMap<string, readonly Node[]>) {
    this.#folder = folder;
    this.#defined = defined;
  }

  render(nodes: readonly Node[], scope: Scope): string {
    return nodes.map((node) => this.#renderNode(node, scope)).join("");
  }

  #renderNode(node: Node, scope: Scope): string {
    if ("text" in node) return node.text;
    const value = this.#evaluate(node.pipeline, scope);
    if (!("block" in node)) return String(value);
    if (!isTrue(value)) return "";
    return this.render(node.body, node.block === "with" ? { ...scope, dot: value } : scope);
  }

  #evaluate(pipeline: string, scope: Scope): unknown {
    const stages = split(pipeline, "|");
    return stages.reduce<unknown>((piped, stage, index) => {
      const words = split(stage, " ");
      const operands = words.slice(1).map((word) => this.#operand(word, scope));
      const given = index === 0 ? operands : [...operands, piped];
      const [first = ""] = words;
      const isCall = /^[a-z]\w*$/iu.test(first);
      if (isCall) return this.#call(first, given, scope);
      if (first === ".Files.Get") return readFileSync(join(this.#folder, String(given[0])), "utf8");
      if (given.length > 0) throw new TypeError(`${stage} cannot be called`);
      return this.#operand(first, scope);
    }, undefined);
  }

  #operand(word: string, scope: Scope): unknown {
    if (word.startsWith("(")) return this.#evaluate(word.slice(1, -1), scope);
    if (/^"|^-?\d+$/u.test(word)) return JSON.parse(word) as unknown;
    if (!/^\.[\w.]*$/u.test(word)) throw new TypeError(`${word} is not part of the subset`);
    const path = word.split(".").filter((name) => name !== "");
    return path.reduce((value, name) => (value as Record<string, unknown>)[name], scope.dot);
  }

  #call(name: string, given: readonly unknown[], scope: Scope): unknown {
    const [first, second] = given;
    switch (name) {
      case "include": {
        const nodes = this.#defined.get(String(first));
        if (nodes === undefined) throw new TypeError(`${String(first)} is not defined`);
        return this.render(nodes, { ...scope, dot: second });
      }
      case "toYaml":
        return stringify(first, { sortMapEntries: true }).trimEnd();
      case "nindent":
        return `\n${String(second).replaceAll(/^/gmu, " ".repeat(Number(first)))}`;
      case "quote":
        return JSON.stringify(String(first));
      case "default":
        return isTrue(second) ? second : first;
      case "add":
        return given.reduce<number>((sum, value) => sum + Number(value), 0);
      default:
        throw new TypeError(`the function ${name} is not part of the subset`);
    }
  }
}

/** Splits at a separator outside of quotes and parentheses. */
function split(text: string, separator: string): string[] {
  const parts = [""];
  let depth = 0;
  let isQuoted = false;
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && character === "(") depth += 1;
    else if (!isQuoted && character === ")") depth -= 1;
    if (character === separator && !isQuoted && depth === 0) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

/** The truth of Go templates: nothing that is empty. */
function isTrue(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}
