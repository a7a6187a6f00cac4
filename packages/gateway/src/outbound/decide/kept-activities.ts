import type { JsonObject } from "@countersign/core";
import type { ClientState } from "@countersign/policy";
import type { AgUiEvent, EventOf } from "@countersign/wire";

type MessageList = EventOf<"MESSAGES_SNAPSHOT">;

/** The official client's key: which types of activities a list takes away by leaving them out. */
const CLIENT_KEY = "@ag-ui/client";

/**
 * Whether what was taken out of a message list makes it take away more than it was judged for: activities of other
 * types, or messages that the list itself repeats.
 */
export function removesMore(event: AgUiEvent, emitted: AgUiEvent, client: ClientState): boolean {
  if (emitted === event || event.type !== "MESSAGES_SNAPSHOT") return false;
  if (emitted.type !== "MESSAGES_SNAPSHOT") return false;
  return (
    removesMoreActivities(event, emitted, client) ||
    (client.keepsMessages(event) && !client.keepsMessages(emitted))
  );
}

function removesMoreActivities(
  event: MessageList,
  emitted: MessageList,
  client: ClientState,
): boolean {
  const judged = client.droppedBy(event);
  return [...client.droppedBy(emitted)].some((type) => !judged.has(type));
}

/**
 * A message list that removes no more than it was judged for: an activity that was withheld from the list stays on the
 * screen as the client has it.
 */
export function keepingActivities(
  event: AgUiEvent,
  emitted: AgUiEvent,
  client: ClientState,
): AgUiEvent {
  if (event.type !== "MESSAGES_SNAPSHOT" || emitted.type !== "MESSAGES_SNAPSHOT") return emitted;
  if (emitted === event || !removesMoreActivities(event, emitted, client)) return emitted;
  const types = [...client.droppedBy(event)].filter((type) => type !== undefined);
  const metadata: JsonObject = {
    ...emitted.metadata,
    [CLIENT_KEY]: { authoritativeActivityTypes: types },
  };
  return { ...emitted, metadata };
}
