let current = "";

/** Which of the stores that the server watches is looked at; empty: the first one. */
export function current_store(): string {
  return current;
}

export function set_store(id: string): void {
  current = id;
}
