/** The meaning of the properties of each component of the basic catalogue. */
export interface ComponentTable {
  /** Properties that name children, in the order of drawing; `tabs/child` is in each item of a list. */
  readonly children?: readonly string[];
  /** Properties that are read as the component's label. */
  readonly labels?: readonly string[];
  readonly urls?: ReadonlyMap<string, "image" | "video" | "audio">;
  /** The property that a person changes, and what is asked for. */
  readonly input?: { readonly values: readonly string[]; readonly type: string };
}

const CHILDREN: ComponentTable = { children: ["children"] };
const MEDIA_LABELS = ["description", "altText"];

const BASIC_COMPONENTS: ReadonlyMap<string, ComponentTable> = new Map<string, ComponentTable>([
  ["Text", { labels: ["text"] }],
  ["Image", { labels: MEDIA_LABELS, urls: new Map([["url", "image"]]) }],
  ["Icon", { labels: ["name"] }],
  ["Video", { labels: MEDIA_LABELS, urls: new Map([["url", "video"]]) }],
  ["AudioPlayer", { labels: MEDIA_LABELS, urls: new Map([["url", "audio"]]) }],
  ["Row", CHILDREN],
  ["Column", CHILDREN],
  ["List", CHILDREN],
  ["Card", { children: ["child", "children"] }],
  // `tabItems`, `entryPointChild`, `contentChild`, `Checkbox` and `MultipleChoice` are of 0.8.
  [
    "Tabs",
    { children: ["tabs/child", "tabItems/child"], labels: ["tabs/title", "tabItems/title"] },
  ],
  ["Modal", { children: ["trigger", "content", "entryPointChild", "contentChild"] }],
  ["Divider", {}],
  ["Button", { children: ["child"] }],
  [
    "TextField",
    { labels: ["label", "placeholder"], input: { values: ["value", "text"], type: "text" } },
  ],
  ["CheckBox", { labels: ["label"], input: { values: ["value", "checked"], type: "boolean" } }],
  ["Checkbox", { labels: ["label"], input: { values: ["value", "checked"], type: "boolean" } }],
  [
    "ChoicePicker",
    {
      labels: ["label", "options/label"],
      input: { values: ["value", "selections"], type: "choice" },
    },
  ],
  [
    "MultipleChoice",
    {
      labels: ["label", "options/label"],
      input: { values: ["selections", "value"], type: "choice" },
    },
  ],
  ["Slider", { labels: ["label"], input: { values: ["value"], type: "range" } }],
  ["DateTimeInput", { labels: ["label"], input: { values: ["value"], type: "date" } }],
]);

/** Properties of the basic catalogue with a word of a fixed list, which no person reads. */
const SETTINGS: ReadonlySet<string> = new Set([
  "variant",
  "fit",
  "justify",
  "align",
  "axis",
  "direction",
  "distribution",
  "alignment",
  "listStyle",
  "displayStyle",
  "usageHint",
  "textFieldType",
  "type",
]);

/** The table of a component; undefined when the basic catalogue has none of that name. */
export function basicComponent(type: string): ComponentTable | undefined {
  return BASIC_COMPONENTS.get(type);
}

/** Properties that every component may have, and those with a number or a rule. */
const COMMON: ReadonlySet<string> = new Set([
  "accessibility",
  "weight",
  "metadata",
  "checks",
  "isValid",
  "validationErrors",
  "validationRegexp",
  "action",
  "min",
  "max",
  "minValue",
  "maxValue",
  "filterable",
  "enableDate",
  "enableTime",
  "maxAllowedSelections",
]);

/** Whether the basic catalogue says what a property is; what it does not know may be shown. */
export function isKnownProperty(table: ComponentTable, property: string): boolean {
  if (SETTINGS.has(property) || COMMON.has(property)) return true;
  if (table.urls?.has(property) === true) return true;
  return namedProperties(table).has(property);
}

const NAMED = new WeakMap<ComponentTable, ReadonlySet<string>>();

/** The outer names of the paths in a table. */
function namedProperties(table: ComponentTable): ReadonlySet<string> {
  let named = NAMED.get(table);
  if (named === undefined) {
    const { children = [], labels = [], input } = table;
    const paths = [...children, ...labels, ...(input?.values ?? [])];
    NAMED.set(table, (named = new Set(paths.map((path) => path.split("/")[0] ?? ""))));
  }
  return named;
}

/** Whether a property of a basic component only has a word that sets its look. */
export function isSetting(property: string): boolean {
  return SETTINGS.has(property);
}
