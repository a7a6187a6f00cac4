/** A small valid document that tests change in one place. */
export const VALID = `oatf: "0.1"
attack:
  id: ACME-001
  name: Forged approval
  severity: high
  execution:
    mode: ag_ui_client
    phases:
      - name: ask
        state:
          run_agent_input:
            threadId: t1
            runId: r1
            messages: [{id: m1, role: user, content: "hello"}]
          tool_responses:
            - when: {toolCallName: transfer_funds}
              content: {content: "ok"}
            - content: {content: "no"}
        extractors:
          - {name: call_id, source: response, type: json_path, selector: $.toolCallId}
        trigger: {event: tool_call_start, match: {toolCallName: transfer_funds}, after: 30s}
      - name: press
        on_enter:
          - log: {message: "saw {{call_id}}", level: info}
  indicators:
    - surface: tool_call_start
      target: toolCallName
      pattern: {contains: transfer}
    - surface: state_snapshot
      target: ""
      expression:
        cel: has(message.snapshot) && admin == true
        variables: {admin: snapshot.admin}
  correlation: {logic: any}
`;

/** The valid document with one piece replaced; the piece must be there. */
export function changed(from: string, to: string): string {
  if (!VALID.includes(from)) throw new TypeError(`the sample does not contain ${from}`);
  return VALID.replace(from, to);
}

/** A document around one execution, in YAML flow style. */
export function withExecution(execution: string, rest = ""): string {
  return `oatf: "0.1"\nattack:\n  execution: ${execution}\n${rest}`;
}

/** A document around one list of indicators, in YAML flow style. */
export function withIndicators(indicators: string, attack = ""): string {
  return `oatf: "0.1"\nattack:\n${attack}  execution: {mode: ag_ui_client, state: {}}\n  indicators: ${indicators}\n`;
}
