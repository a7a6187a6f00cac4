import { ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { listMember, textMember } from "../oatf/json/values.js";
import { textMessage, textsIn } from "./a2a-message.js";
import { detectIntents } from "./detect-intents.js";

/** The addresses of the tool servers (MCP) and the other agents (A2A) of a demo agent, by name. */
export type PeerAddresses = {
  readonly mcp: Readonly<Record<string, string>>;
  readonly a2a: Readonly<Record<string, string>>;
};

/** A question that a tool server asks while a tool runs. */
export type PeerQuestion = { readonly message: string; readonly fields: readonly string[] };

/** How an agent deals with the questions of its tool servers. */
export type PeerManners = {
  /** The values for an elicitation; `undefined` declines it. */
  elicit(question: PeerQuestion): JsonObject | undefined;
  /** The text for a sampling request; absent: the agent does not offer sampling. */
  sample?(prompt: string): string;
};

/** The answer of a tool or of another agent to what the user asked for. */
export type PeerAnswer = {
  readonly name: string;
  readonly args: JsonObject;
  readonly text: string;
  /** The server and the `ui://` resource of a tool that has an application (MCP Apps), and the whole result. */
  readonly app?: { readonly server: string; readonly resourceUri: string };
  readonly result?: JsonValue;
};

/** Everything that the peers said. */
export type PeerTexts = {
  /** Instructions, descriptions, agent cards: what they say about themselves. */
  readonly presented: readonly string[];
  readonly answers: readonly PeerAnswer[];
};

const REQUEST = { timeout: 10_000 };
const NOTHING: PeerTexts = { presented: [], answers: [] };

/** Asks the tool servers and other agents for what the user's words ask them for. */
export async function consultPeers(
  { mcp, a2a }: PeerAddresses,
  words: string,
  manners: PeerManners,
): Promise<PeerTexts> {
  const consulted = await Promise.all([
    ...Object.entries(mcp).map(([name, url]) =>
      consultTools(name, url, words, manners).catch(() => NOTHING),
    ),
    ...Object.entries(a2a).map(([name, url]) =>
      consultAgent(name, url, words).catch(() => NOTHING),
    ),
  ]);
  return {
    presented: consulted.flatMap(({ presented }) => presented),
    answers: consulted.flatMap(({ answers }) => answers),
  };
}

async function consultTools(
  server: string,
  url: string,
  words: string,
  manners: PeerManners,
): Promise<PeerTexts> {
  const client = await connect(url, manners);
  try {
    const offered = client.getServerCapabilities() ?? {};
    const { tools } = offered.tools === undefined ? { tools: [] } : await client.listTools();
    const { resources } =
      offered.resources === undefined ? { resources: [] } : await client.listResources();
    const { prompts } =
      offered.prompts === undefined ? { prompts: [] } : await client.listPrompts();
    const presented = [
      client.getInstructions() ?? "",
      ...[...tools, ...resources, ...prompts].map(({ description }) => description ?? ""),
    ];
    const answers: PeerAnswer[] = [];
    for (const intent of detectIntents(words)) {
      if (intent.kind !== "use") continue;
      const { name, args } = intent;
      if (tools.some((tool) => tool.name === name)) {
        const result = await client.callTool({ name, arguments: args }, undefined, REQUEST);
        const text = textsOf(listMember(result, "content"));
        const ui = ownMember(tools.find((tool) => tool.name === name)?._meta as JsonValue, "ui");
        const resourceUri = textMember(ui, "resourceUri");
        answers.push({
          name,
          args,
          text,
          result: result as JsonValue,
          ...(resourceUri === undefined ? {} : { app: { server, resourceUri } }),
        });
      } else if (resources.some(({ uri }) => uri === name)) {
        const { contents } = await client.readResource({ uri: name }, REQUEST);
        answers.push({
          name: "read_resource",
          args: { uri: name },
          text: textsOf(contents as JsonValue[]),
        });
      } else if (prompts.some((prompt) => prompt.name === name)) {
        const { messages } = await client.getPrompt({ name }, REQUEST);
        const contents = messages.map(({ content }) => content);
        answers.push({
          name: "get_prompt",
          args: { name },
          text: textsOf(contents as JsonValue[]),
        });
      }
    }
    return { presented, answers };
  } finally {
    await client.close();
  }
}

/** Sends one request to a tool server; `undefined` if the server rejects it. */
export async function requestPeer(
  url: string,
  method: string,
  params: JsonObject,
): Promise<JsonValue | undefined> {
  const { ResultSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const client = await connect(url, { elicit: () => undefined });
  try {
    return (await client.request({ method, params }, ResultSchema, REQUEST)) as JsonValue;
  } catch {
    return undefined;
  } finally {
    await client.close();
  }
}

async function connect(url: string, manners: PeerManners) {
  const [{ Client }, { StreamableHTTPClientTransport }, types] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  const { sample } = manners;
  const client = new Client(
    { name: "northwind-assistant", version: "1.0.0" },
    { capabilities: { elicitation: {}, ...(sample === undefined ? {} : { sampling: {} }) } },
  );
  client.setRequestHandler(types.ElicitRequestSchema, ({ params }) => {
    const fields =
      "requestedSchema" in params ? Object.keys(params.requestedSchema.properties) : [];
    const content = manners.elicit({ message: params.message, fields });
    if (content === undefined) return { action: "decline" };
    return { action: "accept", content: content as Record<string, string> };
  });
  if (sample !== undefined) {
    client.setRequestHandler(types.CreateMessageRequestSchema, ({ params }) => {
      const asked = params.messages.flatMap(({ content }) => content) as JsonValue[];
      const text = sample([params.systemPrompt ?? "", textsOf(asked)].join("\n"));
      return { model: "northwind-1", role: "assistant", content: { type: "text", text } };
    });
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never, REQUEST);
  return client;
}

async function consultAgent(name: string, url: string, words: string): Promise<PeerTexts> {
  const { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } =
    await import("@a2a-js/sdk/client");
  const { Role } = await import("@a2a-js/sdk");
  const legacyCompat = { enabled: true };
  const client = await new ClientFactory({
    transports: [new JsonRpcTransportFactory({ legacyCompat })],
    cardResolver: new DefaultAgentCardResolver({ legacyCompat }),
  }).createFromUrl(url);
  const card = await client.getAgentCard();
  const presented = [card.description, ...card.skills.map(({ description }) => description)];
  const answers: PeerAnswer[] = [];
  for (const intent of detectIntents(words)) {
    if (intent.kind !== "ask" || intent.agent !== name) continue;
    const message = textMessage(Role.ROLE_USER, intent.text);
    const request = { tenant: "", message, configuration: undefined, metadata: undefined };
    const answer = await client.sendMessage(request);
    answers.push({ name: "ask_agent", args: { agent: name }, text: textsIn(answer) });
  }
  return { presented, answers };
}

/** The text of content blocks. */
function textsOf(blocks: readonly JsonValue[]): string {
  return blocks.map((block) => textMember(block, "text") ?? "").join("\n");
}

/** Tells an agent in this process where the servers of the running document are. */
export type AddressBook = {
  announce(addresses: PeerAddresses): void;
  servers(): PeerAddresses;
};

/** Creates an address book without entries. */
export function createAddressBook(): AddressBook {
  let known: PeerAddresses = { mcp: {}, a2a: {} };
  return {
    announce(addresses) {
      known = addresses;
    },
    servers: () => known,
  };
}
