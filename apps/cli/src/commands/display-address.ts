/** An address without what may be a secret: name and password, and the query. */
export function displayAddress({ protocol, host, pathname, search }: URL): string {
  return `${protocol}//${host}${pathname}${search === "" ? "" : "?…"}`;
}
