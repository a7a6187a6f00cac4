import { STAGES } from "../pipeline/pipeline.js";
import type { InboundRequest } from "./request.js";

/**
 * Walks a browser's request along the same stages as the agent's events.
 *
 * Throws the coded error of the stage that refuses it; a request that comes back may be sent up.
 */
export async function admitRequest(request: InboundRequest): Promise<void> {
  for (const stage of STAGES) await stage.admit(request);
}
