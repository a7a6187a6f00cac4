/** A JSON Schema, as far as a completion reads it. */
export type Schema = {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
};

/** What can stand at a place of a document. */
export type Proposal = {
  readonly label: string;
  readonly kind: "key" | "value";
  readonly detail?: string;
};

/** The place of the cursor in a YAML text: the keys that lead there, and the key whose value is typed. */
export type Place = { readonly path: readonly string[]; readonly key: string | undefined };

const ITEM = "-";
const KEY = /^(\s*)((?:- +)*)(?:"([^"]*)"|'([^']*)'|([^\s#"'{[&*!|>][^:#]*?)) *:(?: |$)/u;

/** Finds the place by indentation, in block style. A place inside `{ }` or `[ ]` has its line's key. */
export function placeAt(lines: readonly string[], line: number, column: number): Place {
  const text = (lines[line] ?? "").slice(0, column);
  const own = KEY.exec(text);
  const dashes = /^(\s*)((?:- +)*)/u.exec(text);
  const indent = (dashes?.[1] ?? "").length + (dashes?.[2] ?? "").length;
  const path: string[] = (dashes?.[2] ?? "").includes("-") ? [ITEM] : [];
  let limit = path.length > 0 ? (dashes?.[1] ?? "").length : indent;
  for (let at = line - 1; at >= 0 && (limit > 0 || path.length > 0); at -= 1) {
    const before = lines[at] ?? "";
    if (/^\s*(?:#|$)/u.test(before)) continue;
    const found = KEY.exec(before);
    const lead = /^(\s*)((?:- +)*)/u.exec(before);
    const start = (lead?.[1] ?? "").length;
    const depth = start + (lead?.[2] ?? "").length;
    const isList = (lead?.[2] ?? "") !== "";
    // A list may stand at the indentation of its key.
    const isParent = path[0] === ITEM ? depth <= limit && !isList : depth < limit;
    if (found !== null && isParent) {
      path.unshift(found[3] ?? found[4] ?? found[5] ?? "");
      limit = depth;
    }
    if (isList && start < limit) {
      path.unshift(ITEM);
      limit = start;
    }
    if (limit === 0 && path[0] !== ITEM) break;
  }
  return { path, key: own === null ? undefined : (own[3] ?? own[4] ?? own[5]) };
}

/** What the schema allows at a place. */
export function proposalsAt(schema: Schema, { path, key }: Place): Proposal[] {
  const here = path.reduce<Schema[]>(
    (found, step) => found.flatMap((one) => below(schema, one, step)),
    [schema],
  );
  if (key !== undefined) {
    return unique(
      here.flatMap((one) => below(schema, one, key)).flatMap((one) => values(schema, one)),
    );
  }
  const keys = here.flatMap((one) =>
    alternatives(schema, one).flatMap(({ properties = {} }) =>
      Object.entries(properties).map(([label, value]) => {
        const detail = value.description ?? resolve(schema, value).description;
        return { label, kind: "key" as const, ...(detail === undefined ? {} : { detail }) };
      }),
    ),
  );
  return unique([...keys, ...here.flatMap((one) => values(schema, one))]);
}

function below(root: Schema, from: Schema, step: string): Schema[] {
  return alternatives(root, from).flatMap(({ properties, items, additionalProperties }) => {
    if (step === ITEM) return items === undefined ? [] : [items];
    const own =
      properties !== undefined && Object.hasOwn(properties, step) ? properties[step] : undefined;
    if (own !== undefined) return [own];
    return typeof additionalProperties === "object" ? [additionalProperties] : [];
  });
}

function values(root: Schema, from: Schema): Proposal[] {
  return alternatives(root, from).flatMap((one) => {
    const listed =
      one.const !== undefined
        ? [one.const]
        : (one.enum ?? (one.type === "boolean" ? [true, false] : []));
    return listed
      .filter((value) => typeof value !== "object")
      .map((value) => ({ label: String(value), kind: "value" as const }));
  });
}

/** References and alternatives, resolved; a schema that refers to itself ends at the limit. */
function alternatives(root: Schema, from: Schema, depth = 8): Schema[] {
  if (depth === 0) return [];
  const one = resolve(root, from);
  const others = [...(one.anyOf ?? []), ...(one.oneOf ?? []), ...(one.allOf ?? [])];
  return [one, ...others.flatMap((other) => alternatives(root, other, depth - 1))];
}

function resolve(root: Schema, from: Schema): Schema {
  let one = from;
  for (let hops = 0; one.$ref !== undefined && hops < 8; hops += 1) {
    const name = /^#\/\$defs\/(.+)$/u.exec(one.$ref)?.[1] ?? "";
    const next =
      root.$defs !== undefined && Object.hasOwn(root.$defs, name) ? root.$defs[name] : undefined;
    if (next === undefined) return {};
    one = next;
  }
  return one;
}

function unique(proposals: readonly Proposal[]): Proposal[] {
  return [...new Map(proposals.map((one) => [one.label, one])).values()];
}
