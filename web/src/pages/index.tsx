import type { FunctionComponent } from "preact";
import type { Route } from "../route";
import { Audit } from "./audit";
import { Batches } from "./batches";
import { Http } from "./http";
import { Overview } from "./overview";
import { Recoveries } from "./recoveries";
import { Schedules } from "./schedules";
import { Settings } from "./settings";
import { Tasks } from "./tasks";
import { Tokens } from "./tokens";
import { Transactions } from "./transactions";
import { Unknown } from "./unknown";
import { Workers } from "./workers";

export interface PageEntry {
  path: string;
  name: string;
  Content: FunctionComponent<{ route: Route }>;
}

export const pages: PageEntry[] = [
  { path: "", name: "Overview", Content: Overview },
  { path: "tasks", name: "Tasks", Content: Tasks },
  { path: "workers", name: "Workers", Content: Workers },
  { path: "recoveries", name: "Recoveries", Content: Recoveries },
  { path: "http", name: "HTTP", Content: Http },
  { path: "batches", name: "Batches", Content: Batches },
  { path: "transactions", name: "Transactions", Content: Transactions },
  { path: "schedules", name: "Schedules and limits", Content: Schedules },
  { path: "settings", name: "Settings", Content: Settings },
  { path: "tokens", name: "Tokens", Content: Tokens },
  { path: "audit", name: "Audit", Content: Audit },
];

export function page_of(path: string): PageEntry {
  return pages.find((page) => page.path === path) ?? { path, name: "", Content: Unknown };
}
