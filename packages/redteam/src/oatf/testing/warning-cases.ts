import {
  changed,
  EXECUTION,
  FIRST,
  PHASES,
  state,
  VALID,
  withExecution,
  withIndicators,
} from "./sample.js";

/** For each warning: what raises it, the path, and a neighbour that does not. */
export const WARNING_CASES: readonly [code: string, raising: string, path: string, fine: string][] =
  [
    ["W-001", 'attack: {execution: {mode: ag_ui_client, state: {}}}\noatf: "0.1"\n', "oatf", VALID],
    ["W-002", withExecution("{mode: fax_client, state: {}}"), `${EXECUTION}.mode`, VALID],
    [
      "W-003",
      withIndicators("[{target: a, protocol: fax, pattern: {gt: 1}}]"),
      `${FIRST}.protocol`,
      VALID,
    ],
    ["W-004", changed("{{call_id}}", "{{other}}"), `${PHASES}[1].on_enter[0].log.message`, VALID],
    [
      "W-004",
      changed("{{call_id}}", "{{default.other}}"),
      `${PHASES}[1].on_enter[0].log.message`,
      changed("{{call_id}}", "{{request.other}}"),
    ],
    [
      "W-005",
      withIndicators("[{target: a, protocol: mcp, pattern: {gt: 1}}]"),
      `${FIRST}.protocol`,
      VALID,
    ],
    [
      "W-006",
      state("{run_agent_input: {synthesize: {prompt: x}}}"),
      `${EXECUTION}.state.run_agent_input.synthesize`,
      VALID,
    ],
    [
      "W-006",
      state("{tool_responses: [{synthesize: {prompt: x}}]}"),
      `${EXECUTION}.state.tool_responses[0].synthesize`,
      VALID,
    ],
    ["W-007", withIndicators("[{target: a, semantic: {intent: i}}]"), `${FIRST}.semantic`, VALID],
    [
      "V-018",
      withIndicators("[{target: a, surface: nowhere, pattern: {gt: 1}}]"),
      `${FIRST}.surface`,
      VALID,
    ],
    [
      "V-029",
      changed("event: tool_call_start", "event: teapot"),
      `${PHASES}[0].trigger.event`,
      VALID,
    ],
    [
      "V-029",
      withExecution(
        "{mode: mcp_server, phases: [{state: {}, trigger: {event: notifications/elicitation/complete}}]}",
      ),
      `${PHASES}[0].trigger.event`,
      withExecution(
        "{mode: mcp_client, phases: [{state: {}, trigger: {event: notifications/elicitation/complete}}]}",
      ),
    ],
    [
      "CS-001",
      withIndicators("[{target: a, tier: ingested, pattern: {gt: 1}}]"),
      `${FIRST}.tier`,
      VALID,
    ],
    [
      "CS-003",
      withIndicators("[{target: a, expression: {cel: message.a == 1}}]"),
      `${FIRST}.expression.cel`,
      VALID,
    ],
    [
      "CS-004",
      withIndicators("[{target: a, surface: agent_state, pattern: {gt: 1}}]"),
      `${FIRST}.surface`,
      VALID,
    ],
    [
      "CS-008",
      withIndicators(
        "[{target: a, pattern: {gt: 1}}, {id: indicator-01, target: a, pattern: {gt: 1}}]",
      ),
      FIRST,
      VALID,
    ],
    [
      "CS-009",
      withIndicators("[{target: a, expression: {cel: mesage.a == 1}}]"),
      `${FIRST}.expression.cel`,
      VALID,
    ],
  ];
