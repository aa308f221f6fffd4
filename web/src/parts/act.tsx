import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { use_refusal } from "../session";
import type { Role } from "../session";
import { use_ask } from "./ask";
import type { Question } from "./ask";

interface Props {
  /** May have to find out first what it is about to change. */
  question: () => Question | Promise<Question>;
  small?: boolean;
  disabled?: boolean;
  /** Which role it takes; default: operator. */
  role?: Role;
  /** For who does not see what the button stands beside. */
  label?: string;
  children: ComponentChildren;
}

/** A button for operators: it asks first. Others see it, and why they cannot use it. */
export function Act({ question, small, disabled, role, label, children }: Props) {
  const ask = use_ask();
  const refusal = use_refusal(role ?? "operator");
  // Not disabled meanwhile: it would lose the focus, and the dialog could not give it back.
  const busy = useRef(false);
  const begin = async () => {
    if (busy.current) return;
    busy.current = true;
    try {
      ask(await question());
    } finally {
      busy.current = false;
    }
  };
  return (
    <button
      type="button"
      class={small ? "small" : ""}
      disabled={disabled || refusal !== ""}
      aria-label={label}
      title={refusal || undefined}
      onClick={begin}
    >
      {children}
    </button>
  );
}
