import { CopilotChat, CopilotKitProvider, useHumanInTheLoop } from "@copilotkit/react-core/v2";
import "@copilotkit/react-core/v2/styles.css";
import { createRoot } from "react-dom/client";
import { z } from "zod";
import "./page.css";

const guarded = new URLSearchParams(location.search).get("agent") !== "unguarded";

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
    runtimeUrl="/api/copilotkit"
    agentId={guarded ? "support" : "unguarded"}
    enableInspector={false}
  >
    <Dialogs />
    <header>
      <h1>Support</h1>
      <nav>
        <a href="?agent=support" aria-current={guarded}>
          through the gateway
        </a>
        <a href="?agent=unguarded" aria-current={!guarded}>
          without it
        </a>
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
