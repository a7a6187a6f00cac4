/** The order of fields below a value; without `fields` or `items` the order is kept as written. */
export type Layout = {
  readonly fields?: Readonly<Record<string, Layout>>;
  readonly items?: Layout;
};

const KEPT: Layout = {};

function fields(order: readonly string[], nested: Readonly<Record<string, Layout>> = {}): Layout {
  return { fields: Object.fromEntries(order.map((key) => [key, nested[key] ?? KEPT])) };
}

const PHASE = fields(
  ["name", "description", "mode", "state", "extractors", "on_enter", "trigger"],
  {
    extractors: { items: fields(["name", "source", "type", "selector"]) },
    on_enter: {
      items: fields(["send", "log"], {
        send: fields(["method", "params"]),
        log: fields(["message", "level"]),
      }),
    },
    trigger: fields(["event", "count", "match", "after"]),
  },
);

const INDICATOR = fields(
  [
    "id",
    "protocol",
    "surface",
    "target",
    "actor",
    "direction",
    "method",
    "description",
    "pattern",
    "expression",
    "semantic",
    "confidence",
    "severity",
    "false_positives",
    "tier",
  ],
  {
    pattern: fields(["target", "condition"]),
    expression: fields(["cel", "variables"]),
    semantic: fields(["target", "intent", "intent_class", "threshold", "examples"], {
      examples: fields(["positive", "negative"]),
    }),
  },
);

const ATTACK = fields(
  [
    "id",
    "name",
    "version",
    "status",
    "created",
    "modified",
    "author",
    "description",
    "grace_period",
    "severity",
    "impact",
    "classification",
    "references",
    "execution",
    "indicators",
    "correlation",
  ],
  {
    severity: fields(["level", "confidence"]),
    classification: fields(["category", "mappings", "tags"], {
      mappings: { items: fields(["framework", "id", "name", "url", "relationship"]) },
    }),
    references: { items: fields(["url", "title", "description"]) },
    execution: fields(["actors"], {
      actors: { items: fields(["name", "mode", "phases"], { phases: { items: PHASE } }) },
    }),
    indicators: { items: INDICATOR },
  },
);

/** The order of the whole document: `oatf`, `$schema`, `attack`. */
export const LAYOUT: Layout = fields(["oatf", "$schema", "attack"], { attack: ATTACK });
