import { EventEncoder } from "@ag-ui/encoder";
import { expect, test } from "vitest";
import { acceptsProto, PROTO_MEDIA_TYPE } from "./index.js";

test("only the exact type selects protobuf by default", () => {
  expect(acceptsProto(PROTO_MEDIA_TYPE)).toBe(true);
  expect(acceptsProto(`text/event-stream, ${PROTO_MEDIA_TYPE};q=0.5`)).toBe(true);
  expect(acceptsProto("Application/Vnd.AG-UI.Event+Proto ; Q=1.000")).toBe(true);
  for (const header of [undefined, "", "*/*", "application/*", "text/event-stream"]) {
    expect(acceptsProto(header)).toBe(false);
  }
});

test("a quality of zero, or one outside the grammar, does not select protobuf", () => {
  for (const quality of ["0", "0.0", "0.000", "-1", "abc", "", "1.5", "0.0001", "NaN"]) {
    const accepted = acceptsProto(`${PROTO_MEDIA_TYPE};q=${quality}, */*`);
    expect({ quality, accepted }).toEqual({ quality, accepted: false });
  }
});

test("a range with other parameters does not match a type that has none", () => {
  expect(acceptsProto(`${PROTO_MEDIA_TYPE};version=1`)).toBe(false);
  expect(acceptsProto(`${PROTO_MEDIA_TYPE};version=1;q=1`)).toBe(false);
});

test("with wildcards the answer is the one of the official encoder", () => {
  const headers = [
    PROTO_MEDIA_TYPE,
    `${PROTO_MEDIA_TYPE};q=0`,
    `${PROTO_MEDIA_TYPE};q=0, */*`,
    `*/*;q=0.1`,
    "*/*;q=0",
    "application/*",
    "application/*;q=0, */*",
    "text/event-stream",
    "text/*, application/json",
    "text/event-stream, */*;q=0.1",
    `${PROTO_MEDIA_TYPE};version=1`,
  ];
  for (const accept of headers) {
    const theirs = new EventEncoder({ accept }).getContentType() === PROTO_MEDIA_TYPE;
    const ours = acceptsProto(accept, { wildcards: true });
    expect({ accept, ours }).toEqual({ accept, ours: theirs });
  }
});
