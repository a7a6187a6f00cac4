import "@countersign/example-chat-agent/chat.css";
import { AgentProvider } from "@countersign/react";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Chat } from "./chat.js";
import { store } from "./store.js";

const page = document.querySelector("#page");
if (page !== null) {
  createRoot(page).render(
    <StrictMode>
      <AgentProvider agent={store}>
        <Chat />
      </AgentProvider>
    </StrictMode>,
  );
}
