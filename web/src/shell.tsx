import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { post } from "./api/client";
import { use_connected } from "./api/live";
import { use_resource } from "./api/resource";
import type { Session, Store } from "./api/types";
import { pages } from "./pages";
import { address, go } from "./route";
import type { Route } from "./route";
import { set_store } from "./store";
import { plain } from "./text/visible";
import { choose_theme, chosen_theme, next_theme } from "./theme";

interface Props {
  route: Route;
  session: Session;
  signed_out: () => void;
  children: ComponentChildren;
}

export function Shell({ route, session, signed_out, children }: Props) {
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  // Who cannot see that the page changed is told by where the focus is.
  useEffect(() => {
    if (!first.current) main.current?.focus();
    first.current = false;
  }, [route.page, route.id]);
  return (
    <div class="shell">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        To the content
      </a>
      <aside class="side">
        <a class="brand" href={address("")}>
          <img src="/mark.svg" alt="" width="22" height="22" /> Holdfast
        </a>
        <nav aria-label="Pages">
          {pages.map((page) => (
            <a
              key={page.path}
              href={address(page.path)}
              aria-current={page.path === route.page ? "page" : undefined}
            >
              {page.name}
            </a>
          ))}
        </nav>
        <Foot session={session} signed_out={signed_out} />
      </aside>
      <div class="body">
        <StoreChoice route={route} />
        <main id="main" ref={main} tabIndex={-1}>
          {children}
        </main>
      </div>
    </div>
  );
}

function Foot({ session, signed_out }: { session: Session; signed_out: () => void }) {
  const connected = use_connected();
  const [theme, set_theme] = useState(chosen_theme());
  const turn = () => {
    const next = next_theme(theme);
    choose_theme(next);
    set_theme(next);
  };
  const leave = async () => {
    await post("/v1/logout");
    signed_out();
  };
  return (
    <div class="foot">
      <p role="status" class={`live ${connected ? "good" : "warn"}`}>
        {connected ? "Live" : "Connecting…"}
      </p>
      <p class="who">
        {plain(session.user)} · {session.role}
        {session.read_only && " (read-only server)"}
      </p>
      <div class="foot-buttons">
        <button
          type="button"
          class="small"
          onClick={turn}
          aria-label={`Colours: ${theme}. Press for ${next_theme(theme)}`}
        >
          Colours: {theme}
        </button>
        {session.by === "session" && (
          <button type="button" class="small" onClick={leave}>
            Sign out
          </button>
        )}
      </div>
      <p class="version">version {session.version}</p>
    </div>
  );
}

function is_away(store: Store): boolean {
  return store.run_level === "away";
}

/** Only where there is a choice. */
function StoreChoice({ route }: { route: Route }) {
  const { data } = use_resource<{ stores: Store[] }>("/v1/stores", ["recovery"]);
  const stores = data?.stores ?? [];
  const chosen = stores.find((store) => store.id === route.query.get("store")) ?? stores[0];
  if (!chosen) return null;
  const choose = (id: string) => {
    set_store(id === stores[0]?.id ? "" : id);
    go(address(route.page));
  };
  return (
    <header class="store-line">
      {stores.length > 1 ? (
        <label>
          Store{" "}
          <select value={chosen.id} onChange={(event) => choose(event.currentTarget.value)}>
            {stores.map((store) => (
              <option key={store.id} value={store.id}>
                {plain(store.name) + (is_away(store) ? " (away)" : "")}
              </option>
            ))}
          </select>
        </label>
      ) : (
        <span class="id">{plain(chosen.name)}</span>
      )}
      <span class="dim">{plain(chosen.durability)}</span>
      {chosen.durability_warning && (
        <span class="warn-text">{plain(chosen.durability_warning)}</span>
      )}
      {chosen.run_level !== "normal" && (
        <span class="bad-text">{plain(`${chosen.run_level}: ${chosen.reason}`)}</span>
      )}
      {stores
        .filter((store) => store !== chosen && is_away(store))
        .map((store) => (
          <span key={store.id} class="warn-text">
            {plain(`store ${store.id} is away: ${store.reason}`)}
          </span>
        ))}
    </header>
  );
}
