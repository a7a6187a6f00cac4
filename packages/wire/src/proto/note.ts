/** Something the codec could not carry and left out, without failing. */
export type ProtoNote =
  /** A frame that names only events of a later protocol version; the whole frame was dropped. */
  | { kind: "future-event"; offset: number; field: number }
  /** A field this version does not know; `message` is the protobuf message that held it. */
  | { kind: "unknown-field"; offset: number; message: string; field: number }
  /** A content part, or the source of one, of a kind this version does not know. */
  | { kind: "unknown-part"; offset: number }
  /** A frame had more unknown fields than are reported one by one. */
  | { kind: "more-notes"; offset: number }
  /** A member with no field in the protobuf form: left out when encoding. */
  | { kind: "unknown-member"; path: string }
  /** An optional list that is empty: protobuf cannot tell it from an absent one. */
  | { kind: "empty-list"; path: string }
  /** An optional member that is null: absent in the protobuf form. */
  | { kind: "null-member"; path: string };

/** Takes notes as they arise. It must not throw. */
export type ProtoNoteSink = (note: ProtoNote) => void;
