import { useState } from "preact/hooks";
import { with_cursor } from "../api/client";
import type { Topic } from "../api/live";
import { use_resource } from "../api/resource";
import type { Resource } from "../api/resource";
import { Pager } from "./pager";

export interface Paged {
  next_cursor: string | null;
}

/** A list of which the server answers a page at a time, and the buttons that lead through it. */
export function use_pages<Answer extends Paged>(
  path: string,
  topics: readonly Topic[],
  every?: number,
) {
  const [place, set_place] = useState({ path, cursor: "" });
  // The cursor of another list means nothing in this one.
  const cursor = place.path === path ? place.cursor : "";
  const found: Resource<Answer> = use_resource<Answer>(
    path && cursor ? with_cursor(path, cursor) : path,
    topics,
    every,
  );
  const pager = (
    <Pager
      at_start={!cursor}
      next={found.data?.next_cursor ?? null}
      go={(to) => set_place({ path, cursor: to })}
    />
  );
  /** What a heading says about a number of entries: with more pages it is not of all. */
  const here = cursor || found.data?.next_cursor ? " on this page" : "";
  return { found, pager, here };
}
