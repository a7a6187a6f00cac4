import type { Context, Hono } from "hono";
import type { IncomingMessage } from "node:http";
import type { Role } from "../access/operators.js";
import type { LoginMethod } from "./operators/operator-sessions.js";

/** The operator of a request. */
export type RequestOperator = {
  readonly name: string;
  readonly role: Role;
  readonly method: LoginMethod;
  /** The address of the operator's client, if known. */
  readonly address: string | undefined;
  /** The token that changes of this browser session need; absent for other credentials. */
  readonly csrf?: string;
  /** Whether the credential still counts; open streams ask again and again. */
  isValid(): boolean;
};

/** The types of the control plane's requests. */
export type ControlEnv = {
  Bindings: { readonly incoming?: IncomingMessage };
  Variables: { operator: RequestOperator };
};

/** The control plane. */
export type ControlApp = Hono<ControlEnv>;

/** A request of the control plane. */
export type ControlContext = Context<ControlEnv>;

/** The name by which the operator of a request sees a principal; `undefined` if it is left out. */
export type ShownPrincipal = (context: ControlContext, principal: string) => string | undefined;
