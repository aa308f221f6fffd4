import { useEffect, useState } from "preact/hooks";
import { get, in_store, Problem, set_csrf_token } from "./api/client";
import { start_live, stop_live } from "./api/live";
import type { Session } from "./api/types";
import { Shell } from "./shell";
import { Login } from "./pages/login";
import { AskProvider } from "./parts/ask";
import { page_of } from "./pages";
import { use_route } from "./route";
import { CurrentSession } from "./session";
import { set_store } from "./store";

type Standing =
  | { at: "unknown" }
  | { at: "signed out"; problem?: Problem }
  | { at: "signed in"; session: Session };

// The server leads here with `?link=spent` from a link that works no more. Said once.
const link_spent = new URLSearchParams(location.search).get("link") === "spent";
if (link_spent) history.replaceState(null, "", location.pathname + location.hash);

const spent = new Problem(
  401,
  "unauthenticated",
  "The link was used before, or is too old. Sign in with the token or as a user.",
  "",
);

async function standing(): Promise<Standing> {
  try {
    return { at: "signed in", session: await get<Session>("/v1/session") };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (!error.is_signed_out) return { at: "signed out", problem: error };
    return { at: "signed out", ...(link_spent && { problem: spent }) };
  }
}

function use_standing(): [Standing, (session: Session) => void, () => void] {
  const [now, set_now] = useState<Standing>({ at: "unknown" });
  useEffect(() => {
    void standing().then(set_now);
    const left = () => set_now({ at: "signed out" });
    addEventListener("signedout", left);
    return () => removeEventListener("signedout", left);
  }, []);
  return [
    now,
    (session) => set_now({ at: "signed in", session }),
    () => set_now({ at: "signed out" }),
  ];
}

export function App() {
  const route = use_route();
  const [now, signed_in, signed_out] = use_standing();
  const store = route.query.get("store") ?? "";
  set_store(store);
  const session = now.at === "signed in" ? now.session : undefined;
  set_csrf_token(session?.csrf ?? "");
  useEffect(() => {
    if (!session) return;
    start_live(in_store("/v1/events"));
    return stop_live;
  }, [session?.user, store]);

  if (now.at === "unknown") return null;
  if (now.at === "signed out") return <Login problem={now.problem} signed_in={signed_in} />;
  const { Content } = page_of(route.page);
  return (
    <CurrentSession.Provider value={session}>
      <AskProvider>
        <Shell route={route} session={now.session} signed_out={signed_out}>
          <Content key={`${store}/${route.page}/${route.id}`} route={route} />
        </Shell>
      </AskProvider>
    </CurrentSession.Provider>
  );
}
