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

/** The path of the execution. */
export const EXECUTION = "attack.execution";
/** The path of the phases of the short form. */
export const PHASES = `${EXECUTION}.phases`;
/** The path of the first indicator. */
export const FIRST = "attack.indicators[0]";
/** A document of actors. */
export const actors = (...list: string[]): string =>
  withExecution(`{actors: [${list.join(", ")}]}`);
/** One actor in flow style. */
export const actor = (name: string, mode = "mcp_server", phases = "[{state: {}}]"): string =>
  `{name: ${name}, mode: ${mode}, phases: ${phases}}`;
/** A document of phases. */
export const phases = (list: string, mode = "mode: ag_ui_client, "): string =>
  withExecution(`{${mode}phases: ${list}}`);
/** A document with one pattern. */
export const pattern = (body: string): string => withIndicators(`[{target: a, pattern: ${body}}]`);
/** A document with one state. */
export const state = (body: string): string =>
  withExecution(`{mode: ag_ui_client, state: ${body}}`);
