/** An address with further parameters in its query; what it says already stays as it is. */
export function withParameters(url: string, added: Readonly<Record<string, string>>): string {
  const [path = "", query = ""] = url.split("?", 2);
  const parameters = new URLSearchParams(query);
  for (const [name, value] of Object.entries(added)) {
    if (!parameters.has(name)) parameters.set(name, value);
  }
  return `${path}?${parameters.toString()}`;
}
