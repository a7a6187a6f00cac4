import { CopilotChat, CopilotKitProvider, useHumanInTheLoop } from "@copilotkit/react-core/v2";
import "@copilotkit/react-core/v2/styles.css";
import { createRoot } from "react-dom/client";
import { z } from "zod";
import "./page.css";

/** Where the gateway stands for this page: behind the runtime, in front of it, or nowhere. */
const positions = {
  behind: "gateway behind the runtime",
  front: "gateway in front of it",
  none: "without a gateway",
};
const asked = new URLSearchParams(location.search).get("position");
const position = asked in positions ? asked : "behind";
const runtime = position === "front" ? await inFront() : { runtimeUrl: "/api/copilotkit" };

/** The gateway's address in place of the runtime's, and the session of this page. */
async function inFront() {
  const { url, session } = await (await fetch("/gateway.json")).json();
  return {
    runtimeUrl: url,
    headers: { "x-amzn-bedrock-agentcore-runtime-session-id": session },
  };
}

function Dialogs() {
  useHumanInTheLoop({
    name: "confirm_refund",
    description: "Ask the person to confirm a refund",
    parameters: z.object({ order: z.string(), amount: z.string() }),
    render: ({ args, status, respond }) => (
      <div className="dialog" data-testid="confirm-refund">
        <strong>
          Refund {args.amount} for order {args.order}?
        </strong>
        {status === "executing" ? (
          <div className="buttons">
            <button type="button" onClick={() => respond("confirmed")}>
              Confirm
            </button>
            <button type="button" className="quiet" onClick={() => respond("declined")}>
              Not now
            </button>
          </div>
        ) : null}
      </div>
    ),
  });
  useHumanInTheLoop({
    name: "prompt_user",
    description: "Ask the person for one value",
    parameters: z.object({ title: z.string(), field: z.string() }),
    render: ({ args, status, respond }) => (
      <form
        className="dialog alarming"
        data-testid="prompt-user"
        onSubmit={(event) => {
          event.preventDefault();
          respond(new FormData(event.currentTarget).get("value"));
        }}
      >
        <strong>{args.title}</strong>
        {status === "executing" ? <input name="value" placeholder={args.field} /> : null}
      </form>
    ),
  });
  return null;
}

createRoot(document.querySelector("#root")).render(
  <CopilotKitProvider
    {...runtime}
    agentId={position === "none" ? "unguarded" : "support"}
    enableInspector={false}
  >
    <Dialogs />
    <header>
      <h1>Support</h1>
      <nav>
        {Object.entries(positions).map(([name, title]) => (
          <a key={name} href={`?position=${name}`} aria-current={name === position}>
            {title}
          </a>
        ))}
      </nav>
    </header>
    <main>
      <CopilotChat
        labels={{
          welcomeMessageText: "What about your order?",
          chatInputPlaceholder: "Where is my order? Can I get a refund?",
        }}
      />
    </main>
  </CopilotKitProvider>,
);
