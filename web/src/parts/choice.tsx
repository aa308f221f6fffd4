interface Props {
  label: string;
  /** What having no choice is called. */
  all: string;
  options: readonly string[];
  chosen: string;
  choose: (option: string) => void;
}

export function Choice({ label, all, options, chosen, choose }: Props) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {["", ...options].map((option) => (
        <button
          key={option}
          type="button"
          class="small"
          aria-pressed={option === chosen}
          onClick={() => choose(option)}
        >
          {option || all}
        </button>
      ))}
    </div>
  );
}
