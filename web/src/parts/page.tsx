import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { advice_for } from "../api/client";
import type { Resource } from "../api/resource";
import { Text } from "./text";

interface Props {
  title: string;
  /** What stands beside the title. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

export function Page({ title, actions, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Holdfast`;
  }, [title]);
  return (
    <>
      <header class="page-head">
        <h1>{title}</h1>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

export function Section({
  title,
  aside,
  children,
}: {
  title: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="card">
      <div class="card-head">
        <h2>{title}</h2>
        {aside && <div class="aside">{aside}</div>}
      </div>
      {children}
    </section>
  );
}

/** What came, or why nothing did and what to do; nothing jumps while it is being asked for. */
export function Loaded<Answer>({
  from,
  children,
}: {
  from: Resource<Answer>;
  children: (answer: Answer) => ComponentChildren;
}) {
  const { data, problem } = from;
  return (
    <>
      {problem && <Failure {...from} />}
      {data !== undefined
        ? children(data)
        : !problem && (
            <p class="loading" aria-busy="true">
              Loading…
            </p>
          )}
    </>
  );
}

function Failure<Answer>({ problem, reload }: Resource<Answer>) {
  if (!problem) return null;
  return (
    <div class="failure" role="alert">
      <p>
        <strong>
          <Text value={problem.title} />
        </strong>{" "}
        <Text value={problem.detail} />
      </p>
      <p>{advice_for(problem)}</p>
      <button type="button" onClick={reload}>
        Try again
      </button>
    </div>
  );
}

/** Names and values, in two columns. */
export function Facts({ facts }: { facts: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
