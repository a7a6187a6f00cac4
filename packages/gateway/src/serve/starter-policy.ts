/**
 * The policy without a policy file: it allows chat, without anything that a page would load, run or hide; everything
 * else needs a capability.
 */
export const STARTER_POLICY = `hushspec: "0.1.0"
name: starter
rules:
  ag_ui:
    enabled: true
    allow_display_without_capability: true
    max_events_per_second: 10000
  ag_ui_content:
    enabled: true
  ag_ui_inbound:
    enabled: true
    default: block
    allow_classifications: [display, mutate, submit]
`;
