import type { JsonObject } from "@countersign/core";
import type { ClientState } from "@countersign/policy";
import type { AgUiEvent, EventOf } from "@countersign/wire";

type MessageList = EventOf<"MESSAGES_SNAPSHOT">;

/** The official client's metadata key for the types of activities that a list removes by leaving them out. */
const CLIENT_KEY = "@ag-ui/client";

/**
 * Whether withholding parts of a message list makes the list remove more than was judged: activities of other types, or messages that the
 * list itself repeats.
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
 * Returns a message list that removes no more than was judged: an activity that is withheld from the list stays on the screen as the client
 * has it.
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
