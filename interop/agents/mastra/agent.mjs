// A Mastra agent with AG-UI's adapter.
import { MastraAgent } from "@ag-ui/mastra";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core";
import { createTool } from "@mastra/core/tools";
import { InMemoryStore } from "@mastra/core/storage";
import { z } from "zod";
import { MODEL_URL, serve } from "../serve.mjs";

const provider = createOpenAICompatible({ name: "scripted", baseURL: MODEL_URL });
const getWeather = createTool({
  id: "get_weather",
  description: "The weather of a city",
  inputSchema: z.object({ city: z.string() }),
  outputSchema: z.object({ weather: z.string() }),
  execute: async ({ city }) => ({ weather: `18 degrees in ${city}` }),
});
const refundOrder = createTool({
  id: "refund_order",
  description: "Refunds an order after the person agreed",
  inputSchema: z.object({ order: z.string() }),
  outputSchema: z.object({ refunded: z.boolean() }),
  suspendSchema: z.object({ message: z.string() }),
  resumeSchema: z.object({ approved: z.boolean() }),
  execute: async ({ order }, { agent }) => {
    if (agent?.resumeData === undefined)
      return agent?.suspend({ message: `Refund order ${order}?` });
    return { refunded: agent.resumeData.approved };
  },
});
const agent = new Agent({
  id: "main",
  name: "main",
  instructions: "You help.",
  model: provider("scripted"),
  tools: { get_weather: getWeather, refund_order: refundOrder },
});
const mastra = new Mastra({ agents: { main: agent }, storage: new InMemoryStore() });

serve((input) =>
  new MastraAgent({ agent: mastra.getAgent("main"), resourceId: "person" }).run(input),
);
