/**
 * Policies that `extends` can name without a file. The names are HushSpec's; those that are not
 * about user interfaces (`ai-agent`, `cicd`, `remote-desktop`) are not shipped and are refused by
 * name.
 */
export const BUILTIN_POLICIES: ReadonlyMap<string, string> = new Map([
  [
    "default",
    `hushspec: "0.1.0"
name: default
rules:
  ag_ui:
    allow_display_without_capability: true
    max_events_per_second: 10000
  ag_ui_order:
    on_error: block
  ag_ui_tools:
    call: { default: allow }
`,
  ],
  [
    "strict",
    `hushspec: "0.1.0"
name: strict
on_block: notice
rules:
  ag_ui:
    allow_display_without_capability: false
    restricted_classifications: [display, mutate, navigate, create, destroy, submit, alert]
    max_events_per_second: 10000
  ag_ui_components:
    allow_components: [chat-window]
    default: block
  ag_ui_inbound:
    default: block
    allow_classifications: [display]
  ag_ui_order:
    on_error: block
    on_warning: block
  ag_ui_tools:
    call: { default: block }
    declare: { default: block }
    require_advertised: true
  ag_ui_content:
    max_characters: 40000
`,
  ],
  [
    "permissive",
    `hushspec: "0.1.0"
name: permissive
mode: observe
rules:
  ag_ui:
    allow_display_without_capability: true
    max_events_per_second: 10000
`,
  ],
  ["panic", `hushspec: "0.1.0"\nname: __hushspec_panic__\n`],
]);

/** Names of HushSpec's other built-in policies, which are not about user interfaces. */
export const FOREIGN_BUILTINS: ReadonlySet<string> = new Set([
  "ai-agent",
  "cicd",
  "remote-desktop",
]);

/**
 * The name of a built-in policy in a reference. HushSpec writes it bare or after `builtin:` or
 * `hushspec:`; after a prefix it can be nothing else, so no file is searched.
 */
export function builtinNameOf(reference: string): { name: string; isNamed: boolean } {
  const name = /^(?:builtin|hushspec):(.*)$/s.exec(reference)?.[1];
  return { name: name ?? reference, isNamed: name !== undefined };
}
