import { useState } from "preact/hooks";
import { use_refusal } from "../session";
import type { Role } from "../session";
import { sentence_of } from "./ask";
import { Text } from "./text";

export interface EntryField {
  name: string;
  label: string;
  hint?: string;
  initial?: string;
  required?: boolean;
  /** One of these; otherwise any text. */
  choices?: readonly string[];
  /** Several lines. */
  long?: boolean;
}

interface Props {
  title: string;
  verb: string;
  fields: readonly EntryField[];
  /** Which role it takes; default: operator. */
  role?: Role;
  /** Does it, and says in a sentence what was done. */
  send: (values: Record<string, string>) => Promise<string>;
}

function Input({ field }: { field: EntryField }) {
  const same = { name: field.name, required: field.required ?? false };
  if (field.choices)
    return (
      <select {...same}>
        {field.choices.map((choice) => (
          <option key={choice} value={choice} selected={choice === field.initial}>
            {choice}
          </option>
        ))}
      </select>
    );
  const text = { ...same, placeholder: field.hint ?? "", defaultValue: field.initial ?? "" };
  return field.long ? (
    <textarea {...text} rows={4} spellcheck={false} />
  ) : (
    <input {...text} spellcheck={false} autoComplete="off" />
  );
}

/** Something new for the store, closed until it is wanted. Others than operators see why not. */
export function Entry({ title, verb, fields, role, send }: Props) {
  const refusal = use_refusal(role ?? "operator");
  const [result, set_result] = useState({ sentence: "", tone: "" });
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const values: Record<string, string> = {};
    for (const [name, value] of new FormData(event.currentTarget as HTMLFormElement))
      values[name] = String(value).trim();
    set_result({ sentence: "Working…", tone: "running" });
    try {
      set_result({ sentence: await send(values), tone: "done" });
    } catch (error) {
      set_result({ sentence: sentence_of(error), tone: "failed" });
    }
  };
  return (
    <details class="card entry">
      <summary>{title}</summary>
      <form class="filter" onSubmit={submit} aria-label={title}>
        <div class="fields">
          {fields.map((field) => (
            <label key={field.name} class={field.long ? "field whole" : "field"}>
              <span>{field.label}</span>
              <Input field={field} />
            </label>
          ))}
        </div>
        <div class="filter-buttons">
          <button
            class="primary"
            disabled={refusal !== "" || result.tone === "running"}
            title={refusal || undefined}
          >
            {verb}
          </button>
        </div>
        <p role="status" class={`result ${result.tone}`}>
          <Text value={result.sentence} />
        </p>
      </form>
    </details>
  );
}
