import { useEffect, useRef } from "react";
import type { ReactNode } from "react";
import { signOut } from "./api/request.js";
import { useMe } from "./api/session.js";
import { useFeed } from "./feed/feed-context.js";
import type { ConnectionState } from "./feed/feed-store.js";
import { Mark } from "./components/mark.js";
import type { Route } from "./route/route.js";
import { Announcements } from "./components/announce.js";
import { Text } from "./components/text.js";
import { ThemeSwitch } from "./components/theme.js";

const PAGES: readonly (readonly [name: string, title: string, sign: string])[] = [
  ["overview", "Overview", "M3 12h4l3-8 4 16 3-8h4"],
  ["live", "Live", "M4 6h16M4 12h16M4 18h10"],
  ["runs", "Runs", "M6 4v16l14-8z"],
  ["receipts", "Receipts", "M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6"],
  ["policy", "Policy", "M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6z"],
  ["agents", "Agents", "M5 9h14v9H5zM12 9V5M9 13h.01M15 13h.01M2 12v3M22 12v3"],
  ["approvals", "Approvals", "M4 12l5 5L20 6"],
  ["capabilities", "Capabilities", "M14 10a4 4 0 1 0-3.4 3.95L12 15h2v2h2v2h3v-3l-5.4-5.4"],
];

/** The layout of every page: the menu, the connection state, and the global keys. */
export function Frame({
  route,
  children,
}: {
  readonly route: Route;
  readonly children: ReactNode;
}): ReactNode {
  const main = useRef<HTMLElement>(null);
  const place = route.parts.join("/");
  const first = useRef(place);
  useEffect(() => {
    const title = PAGES.find(([name]) => name === route.parts[0])?.[1] ?? "Console";
    document.title = `${title} · Countersign`;
    if (first.current === place) return;
    first.current = "";
    // A screen reader announces the new page's name, and the next Tab is inside it.
    main.current?.querySelector("h1")?.focus();
    scrollTo(0, 0);
  }, [place, route.parts]);
  useEffect(() => {
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <div className="frame">
      <a className="skip" href="#main" onClick={(event) => skipTo(event, main.current)}>
        Skip to content
      </a>
      <header className="side">
        <p className="brand">
          <Mark /> <span>Countersign</span>
        </p>
        <nav aria-label="Pages">
          <ul>
            {PAGES.map(([name, title, sign]) => (
              <li key={name}>
                <a href={`#/${name}`} aria-current={route.parts[0] === name ? "page" : undefined}>
                  <svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
                    <path d={sign} />
                  </svg>
                  <span>{title}</span>
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div className="side-end">
          <Operator />
          <Connection />
          <ThemeSwitch />
          <button type="button" className="small" onClick={() => void signOut()}>
            Sign out
          </button>
        </div>
      </header>
      <main ref={main} id="main" tabIndex={-1}>
        {children}
      </main>
      <Announcements />
    </div>
  );
}

const CONNECTIONS: Readonly<Record<ConnectionState, string>> = {
  connecting: "connecting",
  live: "live",
  lost: "disconnected, reconnecting",
};

/** Who is signed in. */
function Operator(): ReactNode {
  const { operator, role, method } = useMe();
  return (
    <p className="operator" title={`Signed in by ${method}`}>
      <span className="unseen">Signed in as </span>
      <strong>
        <Text value={operator} />
      </strong>{" "}
      <span className="badge class">{role}</span>
    </p>
  );
}

function Connection(): ReactNode {
  const { connection } = useFeed();
  return (
    <p className={`connection ${connection}`}>
      <span className="dot" aria-hidden="true" /> {CONNECTIONS[connection]}
    </p>
  );
}

/** `/` leads to the filter of a page, Esc out of it. */
function onKey(event: KeyboardEvent): void {
  const { target, key } = event;
  const isTyping =
    target instanceof HTMLElement && target.closest("input, textarea, select, dialog") !== null;
  if (key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const filter = document.querySelector<HTMLElement>("[data-filter]");
    if (filter === null) return;
    event.preventDefault();
    filter.focus();
  }
  if (
    key === "Escape" &&
    target instanceof HTMLElement &&
    target.closest("form.filters") !== null
  ) {
    target.blur();
  }
}

/** The address names the page, so the link moves the focus instead. */
function skipTo(event: { preventDefault(): void }, main: HTMLElement | null): void {
  event.preventDefault();
  main?.focus();
}
