import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Session } from "./api/types";

export const CurrentSession = createContext<Session | undefined>(undefined);

const ranks = { viewer: 1, operator: 2, admin: 3 };
export type Role = keyof typeof ranks;

/** Why the server would not let them do what takes this role; empty: it would. */
export function refusal_of(session: Session | undefined, role: Role): string {
  if (session && ranks[session.role] >= ranks[role]) return "";
  return session?.read_only
    ? "This server was started with --read-only: everybody may look, and nobody do more"
    : `This needs the role ${role}`;
}

/** The same for whoever is signed in. The server decides itself, too. */
export function use_refusal(role: Role): string {
  return refusal_of(useContext(CurrentSession), role);
}
