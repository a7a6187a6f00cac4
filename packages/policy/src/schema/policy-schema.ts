import {
  AG_UI,
  AG_UI_COMPONENTS,
  AG_UI_INBOUND,
  AG_UI_MESSAGES,
  AG_UI_ORDER,
  VELOCITY,
} from "./ag-ui.js";
import { AG_UI_CONTENT } from "./content.js";
import { AG_UI_CLASSIFY, AG_UI_CONDITIONS, AG_UI_TOOLS } from "./countersign.js";
import { EXTENSIONS, HUSHSPEC_BLOCKS, METADATA } from "./hushspec.js";
import type { JsonSchema } from "./json-schema.js";
import { choice, closed, text } from "./json-schema.js";
import { AG_UI_REQUEST } from "./request.js";
import { SHARED_DEFINITIONS } from "./shared.js";
import { AG_UI_APPS, AG_UI_SURFACES } from "./surfaces.js";

/** Blocks that decide about AG-UI events. A future block (state) is one more line here. */
export const AG_UI_BLOCKS = {
  ag_ui: AG_UI,
  ag_ui_components: AG_UI_COMPONENTS,
  ag_ui_inbound: AG_UI_INBOUND,
  ag_ui_classify: AG_UI_CLASSIFY,
  ag_ui_conditions: AG_UI_CONDITIONS,
  ag_ui_tools: AG_UI_TOOLS,
  ag_ui_content: AG_UI_CONTENT,
  ag_ui_order: AG_UI_ORDER,
  ag_ui_messages: AG_UI_MESSAGES,
  ag_ui_request: AG_UI_REQUEST,
  ag_ui_surfaces: AG_UI_SURFACES,
  ag_ui_apps: AG_UI_APPS,
  velocity: VELOCITY,
} as const satisfies Readonly<Record<string, JsonSchema>>;

/** Reserved names of future blocks; a policy that uses them is rejected, not partly applied. */
export const RESERVED_BLOCKS: ReadonlySet<string> = new Set(["ag_ui_state"]);

/** Every block of a document, under `rules` or, in a fragment, at the top level. */
export const BLOCK_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  ...AG_UI_BLOCKS,
  ...HUSHSPEC_BLOCKS,
};

const BLOCK_REFERENCES: Readonly<Record<string, JsonSchema>> = Object.fromEntries(
  Object.keys(BLOCK_SCHEMAS).map((name) => [name, { $ref: `#/$defs/${name}` }]),
);

/** The id of the grammar. Editors use the file that `countersign policy schema` prints. */
export const POLICY_SCHEMA_ID = "urn:countersign:policy:v1";

/**
 * The grammar of policy documents: the single source for editors, the reader and the documentation.
 */
export const POLICY_SCHEMA: JsonSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: POLICY_SCHEMA_ID,
  title: "Countersign policy",
  ...closed("A policy: what an agent may do to a person's screen.", {
    hushspec: {
      type: "string",
      description: "Version of the document format.",
      pattern: "^0\\.\\d+\\.\\d+$",
    },
    name: text("A name for people."),
    description: text("What the policy is for.", 4000),
    extends: text("A file relative to this one, or a built-in policy.", 1024),
    merge_strategy: choice("How this document is laid over the one it extends.", [
      "replace",
      "merge",
      "deep_merge",
    ]),
    mode: { $ref: "#/$defs/mode" },
    on_block: { $ref: "#/$defs/on_block" },
    rules: closed("The blocks of the policy.", BLOCK_REFERENCES),
    extensions: EXTENSIONS,
    metadata: METADATA,
    ...BLOCK_REFERENCES,
  }),
  $defs: { ...SHARED_DEFINITIONS, ...BLOCK_SCHEMAS },
};
