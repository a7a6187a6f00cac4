/**
 * The members of MCP and A2A messages at the top: what the client sends, `>`, what the server sends. That is `params` of
 * a request and `result` of its response. Each line is an event of the protocol; what the members hold is not described.
 */
const LIST = "nextCursor";
const TASK_OF_MCP = "taskId status statusMessage createdAt lastUpdatedAt ttl pollInterval";
const MCP: Readonly<Record<string, string>> = {
  initialize:
    "protocolVersion capabilities clientInfo > protocolVersion capabilities serverInfo instructions",
  ping: "",
  "tools/list": `cursor > ${LIST} tools`,
  "tools/call": "name arguments > content structuredContent isError",
  "resources/list": `cursor > ${LIST} resources`,
  "resources/read": "uri > contents",
  "resources/templates/list": `cursor > ${LIST} resourceTemplates`,
  "resources/subscribe": "uri",
  "resources/unsubscribe": "uri",
  "prompts/list": `cursor > ${LIST} prompts`,
  "prompts/get": "name arguments > description messages",
  "logging/setLevel": "level",
  "completion/complete": "ref argument context > completion",
  "sampling/createMessage":
    "model stopReason role content > messages modelPreferences systemPrompt includeContext temperature maxTokens stopSequences metadata tools toolChoice",
  "elicitation/create": "action content > mode message requestedSchema url elicitationId",
  "roots/list": "roots",
  "notifications/cancelled": "requestId reason > requestId reason",
  "notifications/progress":
    "progressToken progress total message > progressToken progress total message",
  "notifications/message": "> level logger",
  "notifications/resources/updated": "> uri",
  "notifications/elicitation/complete": "> elicitationId",
  ...Object.fromEntries(
    ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "notifications/tasks/status"].map(
      (name) => {
        // A task may belong to a request of either side.
        const members = `cursor ${LIST} ${TASK_OF_MCP} tasks content structuredContent isError`;
        return [name, `${members} > ${members}`];
      },
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
  "message/send": `message configuration > ${STREAMED}`,
  "message/stream": `message configuration > ${STREAMED}`,
  "tasks/get": `id historyLength > ${TASK}`,
  "tasks/list": `contextId status pageSize pageToken historyLength includeArtifacts lastUpdatedAfter > tasks pageSize nextPageToken totalSize`,
  "tasks/cancel": `id > ${TASK}`,
  "tasks/resubscribe": `id > ${STREAMED}`,
  "task/status": `> ${STREAMED}`,
  "task/artifact": `> ${STREAMED}`,
  "agent/getAuthenticatedExtendedCard": `> ${CARD}`,
  "agent_card/get": `> ${CARD}`,
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
 * Whether a message of MCP or A2A in one of these directions can have a member at its top; the empty name is the message
 * itself. A name that starts with `x-`, and protocols that are not listed, are not decided: yes.
 */
export function canPeerHold(
  protocol: string,
  event: string | undefined,
  directions: ReadonlySet<string>,
  member: string,
): boolean {
  const known = PROTOCOLS.get(protocol);
  if (known === undefined || member === "" || member.startsWith("x-")) return true;
  const [events, common] = known;
  const lines = event === undefined ? Object.values(events) : [events[event] ?? ""];
  return lines.some((line) => {
    const [client = "", server = ""] = line.split(">");
    const members = [
      common,
      ...(directions.has("request") ? [client] : []),
      ...(directions.has("response") ? [server] : []),
    ];
    return members.join(" ").split(" ").includes(member);
  });
}
