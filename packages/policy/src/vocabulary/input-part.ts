/** What a part of a client's request does. */
export type InputPart =
  | "request"
  | "user_message"
  | "tool_result"
  | "resume"
  | "state"
  | "context"
  | "forwarded_props";
