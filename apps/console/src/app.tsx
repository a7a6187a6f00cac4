import { useEffect } from "react";
import type { ReactNode } from "react";
import { resumeSession } from "./api/request.js";
import { useSession } from "./api/session.js";
import { FeedProvider } from "./feed/feed-context.js";
import { Frame } from "./frame.js";
import { AgentsPage } from "./pages/agents.js";
import { ApprovalsPage } from "./pages/approvals.js";
import { CapabilitiesPage } from "./pages/capabilities.js";
import { LivePage } from "./pages/live.js";
import { LoginPage } from "./pages/login.js";
import { OverviewPage } from "./pages/overview.js";
import { PolicyPage } from "./pages/policy.js";
import { ReceiptPage } from "./pages/receipt.js";
import { ReceiptsPage } from "./pages/receipts.js";
import { RunPage } from "./pages/run.js";
import { RunsPage } from "./pages/runs.js";
import { useRoute } from "./route/route.js";
import type { Route } from "./route/route.js";
import { Empty } from "./components/states.js";

/** The console: the login, or the page that the address names. */
export function App(): ReactNode {
  const session = useSession();
  const route = useRoute();
  useEffect(() => void resumeSession(), []);
  if (session.state === "unknown") return null;
  if (session.state === "out") return <LoginPage reason={session.reason} />;
  return (
    <FeedProvider key={session.me.operator}>
      <Frame route={route}>{pageOf(route)}</Frame>
    </FeedProvider>
  );
}

function pageOf({ parts, query }: Route): ReactNode {
  const [page, first, second] = parts;
  if (page === "overview") return <OverviewPage query={query} />;
  if (page === "live") return <LivePage query={query} />;
  if (page === "runs" && first !== undefined && second !== undefined) {
    return <RunPage key={`${first}/${second}`} session={first} run={second} />;
  }
  if (page === "runs") return <RunsPage query={query} />;
  if (page === "receipts" && first !== undefined) return <ReceiptPage key={first} place={first} />;
  if (page === "receipts") return <ReceiptsPage query={query} />;
  if (page === "policy") return <PolicyPage query={query} />;
  if (page === "capabilities") return <CapabilitiesPage />;
  if (page === "agents") return <AgentsPage />;
  if (page === "approvals") return <ApprovalsPage />;
  return (
    <>
      <h1>Page not found</h1>
      <Empty title="This page does not exist">Choose a page from the menu.</Empty>
    </>
  );
}
