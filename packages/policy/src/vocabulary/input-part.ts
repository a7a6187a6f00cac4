/** The parts of a client's request. */
export type InputPart =
  | "request"
  | "user_message"
  | "tool_result"
  | "resume"
  | "state"
  | "context"
  | "forwarded_props";
