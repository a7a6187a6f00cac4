import { CATALOGUE } from "./cards.js";

/** The policy of the demo: it allows chat, one dialog and drawn cards, blocks pictures of other sites, and counts notifications. */
export const DEMO_POLICY = `hushspec: "0.1.0"
name: demo
rules:
  ag_ui:
    enabled: true
    allow_display_without_capability: true
    max_events_per_second: 10000
    capability_scopes:
      - scope_id: "ui:submit:modal:confirm-refund"
        allow_event_types: [form_action]
        allow_targets:
          - { component_type: modal, component_id: confirm-refund }
  ag_ui_classify:
    tools:
      - match: confirm_refund
        event_type: form_action
        classification: submit
        target: { component_type: modal, component_id: confirm-refund }
      - match: prompt_user
        event_type: form_action
        classification: submit
        target: { component_type: modal, component_id: prompt }
      - match: pay
        event_type: form_action
        classification: submit
        target: { component_type: payment, component_id: saved-card }
      - match: navigate
        event_type: navigation
        classification: navigate
      - match: notify
        event_type: notification
        classification: alert
        target: { component_type: toast, component_id: default }
    # Drawn cards: their texts and boxes only display. A button submits, so it needs the token of the page.
    activities:
      - { match: a2ui-surface, classification: display }
    components:
      - { match: "a2ui:Card", classification: display }
      - { match: "a2ui:Column", classification: display }
      - { match: "a2ui:Row", classification: display }
      - { match: "a2ui:Text", classification: display }
  ag_ui_components:
    enabled: true
    allow_ids:
      - chat-window:main
      - modal:confirm-refund
      - payment:saved-card
      - toast:default
      - a2ui-surface:*
      - a2ui:Card:*
      - a2ui:Column:*
      - a2ui:Row:*
      - a2ui:Text:*
      - a2ui:Button:*
    default: block
  ag_ui_surfaces:
    enabled: true
    # One catalogue and five of its components; a button whose words contradict its action is blocked by default.
    catalogues:
      - id: ${CATALOGUE}
        components: [Card, Column, Row, Text, Button]
        functions: []
  ag_ui_content:
    enabled: true
    images: block
  ag_ui_inbound:
    enabled: true
    default: block
    allow_classifications: [display, mutate, submit]
  ag_ui_request:
    # Clicks on drawn buttons reach the agent if this page showed the button. An invoice can be viewed again and again.
    forwarded_props: { allow: [a2uiAction] }
    actions: { accept: shown, repeat: [view_invoice] }
  velocity:
    enabled: true
    scope: connection
    match:
      event_type: notification
    max_invocations: 3
    window_seconds: 60
`;
