import type { JsonObject, JsonValue } from "@countersign/core";
import { asObject } from "../base/json-object.js";

/** Whether a member may have this value. */
type Check = (value: JsonValue) => boolean;
/** The members of an object; it has no others. */
type Shape = ReadonlyMap<string, Check>;

const shape = (members: { readonly [name: string]: Check }): Shape =>
  new Map(Object.entries(members));

const isText: Check = (value) => typeof value === "string";
const isObject: Check = (value) => asObject(value) !== undefined;
const isAny: Check = () => true;
const has =
  (members: Shape): Check =>
  (value) =>
    fits(value, members);

/** Longest text that has the form of a time. */
const MAX_TIME = 40;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?$/u;
/** The middleware writes the whole click into the prompt, so a time is not a sentence. */
const isTime: Check = (value) =>
  typeof value === "string" && value.length <= MAX_TIME && TIME.test(value);
/** Longest path of a data model. */
const MAX_PATH = 256;
const isPath: Check = (value) =>
  typeof value === "string" && value.length <= MAX_PATH && /^[\w./~-]*$/u.test(value);
const isToken: Check = (value) =>
  typeof value === "number" || (typeof value === "string" && /^[\w.:-]{1,128}$/u.test(value));

/** `userAction` as the renderers of A2UI 0.8 and 0.9 and CopilotKit write it. */
const USER_ACTION = shape({
  name: isText,
  surfaceId: isText,
  sourceComponentId: isText,
  context: isObject,
  timestamp: isTime,
  dataContextPath: isPath,
});
/** `action` of A2UI 1.0. */
const ACTION: Shape = new Map([...USER_ACTION, ["userMessage", isText]]);
const CALL = shape({ call: isText, catalogId: isText, args: isObject });
const AGENT_FUNCTION = shape({
  surfaceId: isText,
  functionCallId: isText,
  callFunction: has(CALL),
});
const FAILURE = shape({ code: isText, message: isText });
const ANSWER = shape({ functionCallId: isText, value: isAny, error: has(FAILURE) });
const ERROR = shape({
  code: isText,
  message: isText,
  surfaceId: isText,
  path: isText,
  functionCallId: isText,
});
const MESSAGE = shape({
  version: (value) => typeof value === "string" && /^v?\d{1,3}(?:\.\d{1,3}){0,2}$/u.test(value),
  userAction: has(USER_ACTION),
  action: has(ACTION),
  callAgentFunction: has(AGENT_FUNCTION),
  rendererFunctionResponse: has(ANSWER),
  error: has(ERROR),
});

const META = shape({ progressToken: isToken });
/** Parameters of the methods that an app may send. */
const PARAMS: ReadonlyMap<string, Shape> = new Map([
  ["tools/call", shape({ name: isText, arguments: isObject, _meta: has(META) })],
  ["resources/read", shape({ uri: isText, _meta: has(META) })],
  [
    "notifications/message",
    shape({ level: isText, logger: isText, data: isAny, _meta: has(META) }),
  ],
  ["ping", shape({ _meta: has(META) })],
]);
const APP_REQUEST = shape({
  serverId: isText,
  serverHash: isText,
  method: isText,
  params: isObject,
});

/** The object with its members, if it has only those of the shape; `null` stands for an absent member. */
function fits(value: JsonValue | undefined, members: Shape): value is JsonObject {
  const object = asObject(value);
  if (object === undefined) return false;
  return Object.entries(object).every(([name, member]) => {
    const check = members.get(name);
    return check !== undefined && (member === null || check(member));
  });
}

/** Whether a member of `a2uiAction` has only members of its format. */
export function isMemberOfMessage(name: string, value: JsonValue): boolean {
  return fits({ [name]: value }, MESSAGE);
}

/** Whether `__proxiedMCPRequest` has only members of its format. A method that no app may send is refused elsewhere. */
export function isAppRequest(value: JsonValue | undefined): value is JsonObject {
  if (!fits(value, APP_REQUEST)) return false;
  const { method, params } = value;
  const members = typeof method === "string" ? PARAMS.get(method) : undefined;
  return members === undefined || fits(params ?? {}, members);
}
