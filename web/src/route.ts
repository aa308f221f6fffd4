import { useEffect, useState } from "preact/hooks";
import { current_store } from "./store";

/**
 * Pages live behind the `#` of the address: `/#/tasks?state=failed`. That part is never sent, so
 * that what somebody filters by (a customer's name, say) is in no server's or proxy's log, and the
 * server need not know which pages there are. It is shared, kept and gone back to like any address.
 */
export interface Route {
  page: string;
  id: string;
  query: URLSearchParams;
}

export function parse_route(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [page = "", ...rest] = path.split("/");
  return { page, id: decoded(rest.join("/")), query: new URLSearchParams(query) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // somebody's own percent sign
  }
}

export function address(page: string, id = "", query?: URLSearchParams): string {
  const all = new URLSearchParams(query);
  if (current_store()) all.set("store", current_store());
  const text = all.toString();
  return `#/${page}${id ? "/" + encodeURIComponent(id) : ""}${text ? "?" + text : ""}`;
}

export function use_route(): Route {
  const [route, set_route] = useState(() => parse_route(location.hash));
  useEffect(() => {
    const changed = () => set_route(parse_route(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}

export function go(to: string): void {
  location.hash = to;
}

/** Changes parts of the query without a new entry in the history of the browser. */
export function refine(route: Route, changes: Record<string, string>): void {
  const query = new URLSearchParams(route.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  location.replace(address(route.page, route.id, query));
}
