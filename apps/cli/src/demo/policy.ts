/** The policy of the demo: it allows chat and one dialog, blocks pictures of other sites, and counts notifications. */
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
  ag_ui_components:
    enabled: true
    allow_ids:
      - chat-window:main
      - modal:confirm-refund
      - payment:saved-card
      - toast:default
    default: block
  ag_ui_content:
    enabled: true
    images: block
  ag_ui_inbound:
    enabled: true
    default: block
    allow_classifications: [display, mutate, submit]
  velocity:
    enabled: true
    scope: connection
    match:
      event_type: notification
    max_invocations: 3
    window_seconds: 60
`;
