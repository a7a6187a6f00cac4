// A VoltAgent agent with VoltAgent's own AG-UI adapter.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createVoltAgentAGUI } from "@voltagent/ag-ui";
import { Agent, createTool } from "@voltagent/core";
import { z } from "zod";
import { MODEL_URL, serve } from "../serve.mjs";

const provider = createOpenAICompatible({ name: "scripted", baseURL: MODEL_URL });
const getWeather = createTool({
  name: "get_weather",
  description: "The weather of a city",
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ weather: `18 degrees in ${city}` }),
});
const agent = new Agent({
  name: "main",
  instructions: "You help.",
  model: provider("scripted"),
  tools: [getWeather],
});

serve((input) => createVoltAgentAGUI({ agent }).run(input));
