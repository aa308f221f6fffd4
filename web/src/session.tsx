import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Session } from "./api/types";

export const CurrentSession = createContext<Session | undefined>(undefined);

const ranks = { viewer: 1, operator: 2, admin: 3 };

/** Whether the server would let whoever is signed in do this. It decides itself, too. */
export function use_may(role: keyof typeof ranks): boolean {
  const session = useContext(CurrentSession);
  return session !== undefined && ranks[session.role] >= ranks[role];
}
