/**
 * The members of MCP and A2A messages at the top: `params` of a request, `result` or `error` of its response. Each line
 * is an event of the protocol; what the members hold is not described.
 */
const LIST = "cursor nextCursor";
const MCP: Readonly<Record<string, string>> = {
  initialize: "protocolVersion capabilities clientInfo serverInfo instructions",
  ping: "",
  "tools/list": `${LIST} tools`,
  "tools/call": "name arguments content structuredContent isError",
  "resources/list": `${LIST} resources`,
  "resources/read": "uri contents",
  "resources/templates/list": `${LIST} resourceTemplates`,
  "resources/subscribe": "uri",
  "resources/unsubscribe": "uri",
  "prompts/list": `${LIST} prompts`,
  "prompts/get": "name arguments description messages",
  "logging/setLevel": "level",
  "completion/complete": "ref argument context completion",
  "sampling/createMessage":
    "messages modelPreferences systemPrompt includeContext temperature maxTokens stopSequences metadata tools toolChoice model stopReason role content",
  "elicitation/create": "mode message requestedSchema url elicitationId action content",
  "roots/list": "roots",
  "notifications/cancelled": "requestId reason",
  "notifications/progress": "progressToken progress total message",
  "notifications/message": "level logger",
  "notifications/resources/updated": "uri",
  "notifications/elicitation/complete": "elicitationId",
  ...Object.fromEntries(
    ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "notifications/tasks/status"].map(
      (name) => [
        name,
        `${LIST} taskId status statusMessage createdAt lastUpdatedAt ttl pollInterval tasks content structuredContent isError`,
      ],
    ),
  ),
};
/** Every message may have these: errors, and what a task adds to a request and its result. */
const MCP_ALL = "_meta code message data task";

const TASK = "id contextId status artifacts history kind role parts messageId taskId";
const STREAMED = `${TASK} artifact append lastChunk final message task statusUpdate artifactUpdate`;
const CARD =
  "name description url skills version provider capabilities securitySchemes security defaultInputModes defaultOutputModes protocolVersion protocolVersions preferredTransport additionalInterfaces supportedInterfaces supportsAuthenticatedExtendedCard iconUrl documentationUrl signatures";
const A2A: Readonly<Record<string, string>> = {
  "message/send": `${STREAMED} configuration`,
  "message/stream": `${STREAMED} configuration`,
  "tasks/get": `${TASK} historyLength`,
  "tasks/list": `${TASK} tasks pageSize pageToken nextPageToken totalSize historyLength includeArtifacts lastUpdatedAfter`,
  "tasks/cancel": TASK,
  "tasks/resubscribe": STREAMED,
  "task/status": STREAMED,
  "task/artifact": STREAMED,
  "agent/getAuthenticatedExtendedCard": CARD,
  "agent_card/get": CARD,
};
const A2A_ALL =
  "metadata extensions referenceTaskIds tenant code message data id pushNotificationConfig pushNotificationConfigId taskId";

const PROTOCOLS: ReadonlyMap<string, readonly [Readonly<Record<string, string>>, string]> = new Map(
  [
    ["mcp", [MCP, MCP_ALL]],
    ["a2a", [A2A, A2A_ALL]],
  ],
);

/**
 * Whether a message of MCP or A2A can have a member at its top; the empty name is the message itself. A name that
 * starts with `x-`, and protocols that are not listed, are not decided: yes.
 */
export function canPeerHold(protocol: string, event: string | undefined, member: string): boolean {
  const known = PROTOCOLS.get(protocol);
  if (known === undefined || member === "" || member.startsWith("x-")) return true;
  const [events, common] = known;
  const members = event === undefined ? Object.values(events).join(" ") : (events[event] ?? "");
  return `${members} ${common}`.split(" ").includes(member);
}
