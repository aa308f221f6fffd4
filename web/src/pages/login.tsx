import { useState } from "preact/hooks";
import { advice_for, post, Problem } from "../api/client";
import type { Session } from "../api/types";
import { Command } from "../parts/empty";
import { Text } from "../parts/text";

interface Props {
  /** Why it is not known who is here, where that is not simply nobody. */
  problem?: Problem | undefined;
  signed_in: (session: Session) => void;
}

export function Login({ problem, signed_in }: Props) {
  const [by_token, set_by_token] = useState(false);
  const [trouble, set_trouble] = useState(problem);
  const [busy, set_busy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    set_busy(true);
    set_trouble(undefined);
    try {
      signed_in(await post<Session>("/v1/login", Object.fromEntries(fields)));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      set_trouble(error);
      set_busy(false);
    }
  };
  return (
    <main class="login">
      <img src="/mark.svg" alt="" width="40" height="40" />
      <h1>Sign in to Holdfast</h1>
      <form onSubmit={submit} key={String(by_token)}>
        {by_token ? (
          <Field name="token" label="Token" type="password" />
        ) : (
          <>
            <Field name="user" label="User" type="text" />
            <Field name="password" label="Password" type="password" />
          </>
        )}
        <p role="alert" class="bad-text">
          {trouble && (
            <Text
              value={`${trouble.message} ${trouble.status === 401 ? "" : advice_for(trouble)}`}
            />
          )}
        </p>
        <button class="primary" disabled={busy}>
          Sign in
        </button>
      </form>
      <button type="button" class="plain" onClick={() => set_by_token(!by_token)}>
        {by_token ? "Sign in with user and password" : "Sign in with a token"}
      </button>
      <div class="login-hint">
        <p>On your own machine, open the link that the server prints when it starts:</p>
        <Command text="holdfast serve" />
      </div>
    </main>
  );
}

function Field({ name, label, type }: { name: string; label: string; type: string }) {
  const completion =
    name === "user" ? "username" : name === "password" ? "current-password" : "off";
  return (
    <label class="field">
      <span>{label}</span>
      <input name={name} type={type} required autoComplete={completion} spellcheck={false} />
    </label>
  );
}
