import { createAgentStore, postSse } from "@countersign/client";

/** The one conversation of this page; a gateway would be named here in place of the agent. */
export const store = createAgentStore({
  transport: postSse({ url: "/agent", stopUrl: "/agent/stop" }),
});
