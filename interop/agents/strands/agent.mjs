// A Strands agent behind the Express server of AG-UI's adapter.
import { StrandsAgent } from "@ag-ui/aws-strands";
import { createStrandsApp } from "@ag-ui/aws-strands/server";
import { Agent, tool } from "@strands-agents/sdk";
import { OpenAIModel } from "@strands-agents/sdk/models/openai";
import { z } from "zod";
import { announce, MODEL_URL } from "../serve.mjs";

const model = new OpenAIModel({
  api: "chat",
  modelId: "scripted",
  apiKey: "none",
  clientConfig: { baseURL: MODEL_URL },
});
const getWeather = tool({
  name: "get_weather",
  description: "The weather of a city",
  inputSchema: z.object({ city: z.string() }),
  callback: ({ city }) => `18 degrees in ${city}`,
});
const takeNote = tool({
  name: "take_note",
  description: "Keeps a note in the shared state",
  inputSchema: z.object({ note: z.string() }),
  callback: ({ note }) => `noted: ${note}`,
});
const refundOrder = tool({
  name: "refund_order",
  description: "Refunds an order after the person agreed",
  inputSchema: z.object({ order: z.string() }),
  callback: ({ order }, context) => {
    const said = context.interrupt({ name: "confirm", reason: "confirmation" });
    return `order ${order}: the person said ${JSON.stringify(said)}`;
  },
});
const strands = new Agent({
  model,
  systemPrompt: "You help.",
  tools: [getWeather, takeNote, refundOrder],
  printer: false,
});
const config = {
  toolBehaviors: {
    take_note: { stateFromArgs: async ({ toolInput }) => ({ note: toolInput.note }) },
  },
};
const app = await createStrandsApp(new StrandsAgent({ agent: strands, name: "main", config }), {
  path: "/",
});
const server = app.listen(0, "127.0.0.1", () => announce(server.address().port));
