import type { ComponentChildren } from "preact";
import { use_may } from "../session";
import { use_ask } from "./ask";
import type { Question } from "./ask";

interface Props {
  question: () => Question | Promise<Question>;
  small?: boolean;
  disabled?: boolean;
  /** For who does not see what the button stands beside. */
  label?: string;
  children: ComponentChildren;
}

/** A button for operators: it asks first. Others see it, and why they cannot use it. */
export function Act({ question, small, disabled, label, children }: Props) {
  const ask = use_ask();
  const may = use_may("operator");
  return (
    <button
      type="button"
      class={small ? "small" : ""}
      disabled={disabled || !may}
      aria-label={label}
      title={may ? undefined : "This needs the role operator"}
      onClick={async () => ask(await question())}
    >
      {children}
    </button>
  );
}
