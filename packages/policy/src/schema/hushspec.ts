import type { JsonSchema } from "./json-schema.js";
import { choice, closed, flag, list, text } from "./json-schema.js";

const strings = (description: string): JsonSchema =>
  list(description, text("A name or glob."), 1000);
const patterns = (description: string): JsonSchema =>
  list(description, text("A regular expression (RE2).", 512), 64);
const enabled = (value: boolean): JsonSchema => flag("Whether the block counts at all.", value);
const action = choice("The action for names that are not on the lists.", ["allow", "block"]);
const count = (description: string, minimum = 0): JsonSchema => ({
  type: "integer",
  description,
  minimum,
});
const amount = (description: string): JsonSchema => ({ type: "number", description, minimum: 0 });

/**
 * The blocks of HushSpec for other guards. They are checked, so that a typing error in a shared
 * policy is found, and kept, so that the hash covers them; on an AG-UI stream they have no effect.
 */
export const HUSHSPEC_BLOCKS: Readonly<Record<string, JsonSchema>> = {
  forbidden_paths: closed("Files a tool may not touch.", {
    enabled: enabled(true),
    patterns: strings("Globs of forbidden paths."),
    exceptions: strings("Globs that stay allowed."),
  }),
  path_allowlist: closed("Files a tool may touch.", {
    enabled: enabled(false),
    read: strings("Readable paths."),
    write: strings("Writable paths."),
    patch: strings("Patchable paths."),
  }),
  egress: closed("Hosts a tool may reach.", {
    enabled: enabled(true),
    allow: strings("Allowed hosts."),
    block: strings("Blocked hosts."),
    default: action,
  }),
  secret_patterns: closed("Secrets that may not leave.", {
    enabled: enabled(true),
    patterns: list(
      "Named patterns.",
      closed(
        "One pattern.",
        {
          name: text("Its name, unique in the list."),
          pattern: text("A regular expression (RE2).", 512),
          severity: choice("How bad a hit is.", ["critical", "error", "warn"]),
          description: text("What it finds.", 1000),
        },
        ["name", "pattern", "severity"],
      ),
      64,
    ),
    skip_paths: strings("Paths that are not searched."),
  }),
  patch_integrity: closed("Bounds on patches to files.", {
    enabled: enabled(true),
    max_additions: count("Added lines."),
    max_deletions: count("Deleted lines."),
    forbidden_patterns: patterns("Patterns no patch may add."),
    require_balance: flag("Whether additions and deletions must balance.", false),
    max_imbalance_ratio: amount("How far they may differ."),
  }),
  shell_commands: closed("Commands a tool may not run.", {
    enabled: enabled(true),
    forbidden_patterns: patterns("Patterns of forbidden commands."),
  }),
  tool_access: closed(
    "Tools an agent may invoke on servers; see ag_ui_tools for calls on the stream.",
    {
      enabled: enabled(true),
      allow: strings("Allowed tools."),
      block: strings("Blocked tools."),
      require_confirmation: strings("Tools that need a person's confirmation."),
      default: action,
      max_args_size: count("Bytes of arguments.", 1),
      require_runtime_assurance_tier: text("Chio: least runtime assurance."),
      prefer_runtime_assurance_tier: text("Chio: preferred runtime assurance."),
      require_workload_identity: { type: "object", additionalProperties: true },
      prefer_workload_identity: { type: "object", additionalProperties: true },
    },
  ),
  computer_use: closed("Control of a desktop.", {
    enabled: enabled(false),
    mode: choice("How strict.", ["guardrail", "observe", "fail_closed"]),
    allowed_actions: strings("Allowed actions."),
  }),
  remote_desktop_channels: closed("Side channels of a remote desktop.", {
    enabled: enabled(false),
    clipboard: flag("Clipboard.", false),
    file_transfer: flag("Files.", false),
    audio: flag("Sound.", true),
    drive_mapping: flag("Drives.", false),
  }),
  input_injection: closed("Typing and clicking.", {
    enabled: enabled(false),
    allowed_types: strings("Allowed kinds."),
    require_postcondition_probe: flag("Whether the effect must be probed.", false),
  }),
  browser_automation: closed("Control of a browser.", {
    enabled: enabled(false),
    allowed_domains: strings("Allowed domains."),
    blocked_domains: strings("Blocked domains."),
    allowed_verbs: strings("Allowed verbs."),
    credential_detection: flag("Whether credentials are looked for.", true),
    extra_credential_patterns: patterns("More patterns of credentials."),
  }),
  code_execution: closed("Running code.", {
    enabled: enabled(false),
    language_allowlist: strings("Allowed languages."),
    module_denylist: strings("Forbidden modules."),
    network_access: flag("Whether code may use the network.", false),
    max_execution_time_ms: count("Milliseconds.", 1),
    max_scan_bytes: count("Bytes.", 1),
  }),
  human_in_loop: closed("When a person must confirm.", {
    enabled: enabled(true),
    require_confirmation: strings("Tools that need a confirmation."),
    approve_above: amount("Amount above which a person approves."),
    approve_above_currency: text("Its currency.", 16),
    timeout_seconds: count("Seconds to wait.", 1),
    on_timeout: choice("What silence means.", ["deny", "defer"]),
  }),
};

/** `metadata` of a HushSpec document. */
export const METADATA: JsonSchema = closed("The author and approver of the policy.", {
  author: text("Author.", 1000),
  approved_by: text("Approver.", 1000),
  approval_date: text("Date of approval.", 64),
  classification: choice("How confidential the policy is.", [
    "public",
    "internal",
    "confidential",
    "restricted",
  ]),
  change_ticket: text("Ticket.", 1000),
  lifecycle_state: choice("The lifecycle state of the policy.", [
    "draft",
    "review",
    "approved",
    "deployed",
    "deprecated",
    "archived",
  ]),
  policy_version: count("Version, counted from 1.", 1),
  effective_date: text("First day.", 64),
  expiry_date: text("Last day.", 64),
});

const open = (description: string): JsonSchema => ({
  type: "object",
  description,
  additionalProperties: true,
});

/** `extensions` of a HushSpec document; kept and hashed, without effect on an AG-UI stream. */
export const EXTENSIONS: JsonSchema = closed("Extensions of HushSpec and Chio.", {
  posture: open("Posture states."),
  origins: open("Origin profiles."),
  detection: open("Detectors."),
  reputation: open("Chio: reputation."),
  runtime_assurance: open("Chio: runtime assurance."),
  chio: open("Chio's own settings."),
});
