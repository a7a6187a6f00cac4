import type { FeedItem } from "../api/responses.js";
import { verdictOf } from "../api/verdict.js";

/** Which decisions of the feed are looked at. */
export type FeedFilter = {
  readonly verdict?: string;
  readonly direction?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly rule?: string;
  /** Of several gateways: one by its name, or `all`. Not asked of a decision, which does not say. */
  readonly gateway?: string;
  /** Found anywhere in what names a decision. */
  readonly text?: string;
};

const NAMES = ["verdict", "direction", "agent", "session", "rule", "gateway", "text"] as const;

/** The filter that an address has. */
export function feedFilterOf(query: URLSearchParams): FeedFilter {
  const filter: Record<string, string> = {};
  for (const name of NAMES) {
    const value = query.get(name);
    if (value !== null && value !== "") filter[name] = value;
  }
  return filter;
}

/** Whether a decision passes; agent, session and rule by their beginning, as one types them. */
export function passesFilter(item: FeedItem, filter: FeedFilter): boolean {
  const { verdict, direction, agent, session, rule, text } = filter;
  if (verdict !== undefined && verdictOf(item) !== verdict) return false;
  if (direction !== undefined && item.direction !== direction) return false;
  if (agent !== undefined && !item.agent_id.startsWith(agent)) return false;
  if (session !== undefined && !item.session_id.startsWith(session)) return false;
  if (rule !== undefined && item.rule?.startsWith(rule) !== true) return false;
  if (text === undefined) return true;
  const wanted = text.toLowerCase();
  return [
    item.type,
    item.event_type,
    item.agent_id,
    item.session_id,
    item.run_id,
    item.rule ?? "",
  ].some((value) => value.toLowerCase().includes(wanted));
}
