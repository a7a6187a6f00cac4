import type { JsonSchema } from "./json-schema.js";
import { choice, closed, list, text } from "./json-schema.js";
import { BLOCK_HEADER, MAX_LIST } from "./shared.js";

const action = (description: string): JsonSchema => ({
  ...choice(description, ["allow", "block"]),
  default: "block",
});
const names = (description: string): JsonSchema =>
  list(description, text("A name; `*` matches any run of characters."), MAX_LIST);
const sha256 = (description: string): JsonSchema => ({
  type: "string",
  description,
  pattern: "^[0-9a-f]{64}$",
});
const atMost = (description: string, value: number, maximum: number): JsonSchema => ({
  type: "integer",
  description,
  minimum: 1,
  maximum,
  default: value,
});
const host: JsonSchema = {
  type: "string",
  description: "A host by its whole name, with a port where it has one; `*` is any host.",
  pattern: "^(\\*|[A-Za-z0-9.-]{1,253}(:\\d{1,5})?)$",
};

/** Schemes that a policy may allow; no other starts code or a program. */
export const URL_SCHEMES = ["https", "http", "wss", "ws", "mailto", "tel", "sms", "data"] as const;
/** Longest URL of a component without a setting. */
export const DEFAULT_URL_LENGTH = 2048;

const catalogue = closed(
  "One catalogue.",
  {
    id: text(
      "The `catalogId` of surfaces, or `unnamed` for surfaces without one (A2UI 0.8).",
      1024,
    ),
    components: names(
      "Its components that agents may draw. Default: those of the basic catalogue.",
    ),
    functions: names(
      "Its functions that components may call. Default: those of the basic catalogue.",
    ),
    schemas: {
      type: "object",
      description: "A JSON Schema for the properties of a component after bindings, by its name.",
      additionalProperties: { type: "object", description: "A JSON Schema (2020-12)." },
      maxProperties: 500,
    },
    hash: sha256(
      "SHA-256 of the canonical JSON of the catalogue that a browser may send in `context`. Without it, none.",
    ),
  },
  ["id"],
);

/** `ag_ui_surfaces`: what an agent may draw with A2UI and HTML. */
export const AG_UI_SURFACES: JsonSchema = closed(
  "The interfaces that an agent may draw. One blocked component blocks its event. Without the block its defaults apply.",
  {
    ...BLOCK_HEADER,
    rendering_tools: list(
      "Further tools whose arguments the page draws as A2UI, beside `render_a2ui`. Default: none.",
      text("The name of a tool.", 256),
      100,
    ),
    rendering_activities: list(
      "Further types of activities that the page draws, beside `a2ui-surface`, `mcp-apps` and `open-generative-ui`. Default: none.",
      text("A type of activities.", 256),
      100,
    ),
    catalogues: list("The catalogues that agents may use. Default: none.", catalogue, 100),
    overrides: action("A component that names another catalogue than its surface."),
    block_functions: names("Functions that no component may call."),
    agent_calls: names(
      "Functions that an agent may run in the page (`callRendererFunction`). Default: none.",
    ),
    agent_functions: names(
      "Functions that a page may run at the agent (`callAgentFunction`). Default: none.",
    ),
    urls: closed("URLs that components load or open, after bindings and functions.", {
      schemes: {
        ...list("Schemes.", choice("A scheme.", URL_SCHEMES), URL_SCHEMES.length),
        default: ["https"],
      },
      hosts: list("Hosts. Default: none.", host, 1000),
      relative: action("URLs without a host."),
      unknown: action(
        "URLs of which the gateway does not know all: typed text, unknown functions.",
      ),
      max_length: atMost("Characters of one URL.", DEFAULT_URL_LENGTH, 65_536),
    }),
    inputs: closed("Inputs by label, id, data path and hints.", {
      sensitive: action("Inputs that ask for a password, a card, a code or a similar secret."),
      words: list(
        "Further words that make an input sensitive.",
        { type: "string", description: "A word or phrase.", minLength: 2, maxLength: 100 },
        1000,
      ),
    }),
    labels: closed("Text on a component and the name of its action.", {
      contradiction: action(
        "A harmless label (view, cancel) on a harmful action (pay, delete), or an accessibility label that says the opposite of the text.",
      ),
    }),
    send_data_model: action("Surfaces whose page sends its whole data model with every message."),
    limits: closed("Limits of the model of one thread. What exceeds one is blocked.", {
      surfaces: atMost("Surfaces.", 256, 10_000),
      components: atMost("Components of one surface.", 6000, 1_000_000),
      depth: atMost("Nesting of components.", 100, 1000),
      text_length: atMost("Characters of one text.", 65_536, 10_000_000),
      html_length: atMost("Characters of one HTML document.", 1_048_576, 16_777_216),
    }),
  },
);

const domains = (directive: string): JsonSchema => ({
  ...list(`Domains that an app may declare in \`${directive}\`. Default: none.`, host, 1000),
});

const appTool = closed(
  "One tool.",
  {
    name: text("The name of the tool."),
    visibility: {
      ...list("Who may call it.", choice("A caller.", ["app", "model"]), 2),
      default: ["app"],
    },
    arguments: { type: "object", description: "A JSON Schema (2020-12) for its arguments." },
  },
  ["name"],
);

/** `ag_ui_apps`: MCP Apps and sandboxed HTML. */
export const AG_UI_APPS: JsonSchema = closed(
  "Which MCP Apps and HTML documents an agent may show, and what they may ask for. Without the block its defaults apply.",
  {
    ...BLOCK_HEADER,
    servers: list(
      "`serverId` or `serverHash` of MCP servers. An app that names both needs both. Default: none.",
      text("A server.", 512),
      1000,
    ),
    resources: list(
      "`ui://` resources. Default: none.",
      closed(
        "One resource.",
        {
          uri: text("A URI; `*` matches any run of characters.", 1024),
          sha256: sha256("The hash of its HTML, as receipts and `policy explain` show it."),
        },
        ["uri"],
      ),
      1000,
    ),
    tools: list("Tools that apps may call. Default: none.", appTool, 1000),
    methods: {
      ...list(
        "Methods that apps may send to their server.",
        choice("A method.", ["tools/call", "resources/read", "notifications/message", "ping"]),
        4,
      ),
      default: ["tools/call", "resources/read", "ping"],
    },
    csp: closed("Domains that apps may declare.", {
      connect: domains("connectDomains"),
      resource: domains("resourceDomains"),
      frame: domains("frameDomains"),
      base: domains("baseUriDomains"),
    }),
    permissions: list(
      "Permissions that apps may ask for. Default: none.",
      choice("A permission.", ["camera", "microphone", "geolocation", "clipboardWrite"]),
      4,
    ),
    sandboxed_html: action("HTML that an agent writes (open generative UI)."),
    html: closed("HTML that an agent writes, where it is allowed.", {
      max_bytes: atMost("Bytes of HTML, styles and scripts.", 262_144, 16_777_216),
      forms: action("Forms."),
      scripts: action("Scripts."),
    }),
  },
);
