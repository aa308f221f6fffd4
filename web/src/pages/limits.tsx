import { in_store, post } from "../api/client";
import type { Limit } from "../api/types";
import { Act } from "../parts/act";
import type { Question } from "../parts/ask";
import { Loaded, Section } from "../parts/page";
import { use_pages } from "../parts/pages";
import type { Paged } from "../parts/pages";
import { Table } from "../parts/table";
import type { Column } from "../parts/table";
import { Text } from "../parts/text";
import { count, duration, plural } from "../text/format";

/** A limit, or for `*` one of those that it is in use by. */
interface Line {
  limit: Limit;
  name: string;
  running: number | null;
  tokens: number | null;
}

export function lines_of(limits: Limit[]): Line[] {
  return limits.flatMap((limit): Line[] => {
    const uses = limit.uses.map((use) => ({ limit, ...use }));
    const itself = {
      limit,
      name: limit.name,
      running: limit.name === "*" ? null : 0,
      tokens: null,
    };
    return limit.name === "*" || uses.length === 0 ? [itself, ...uses] : uses;
  });
}

function remove_question(limit: Limit, changed: () => void): Question {
  return {
    title: `Remove the limit of ${limit.scope} ${limit.name}?`,
    sentence: "Tasks that it holds back run as soon as workers are free.",
    verb: "Remove",
    dangerous: true,
    run: async () => {
      await post(in_store("/v1/limits/remove"), { scope: limit.scope, name: limit.name });
      changed();
      return "The limit is removed.";
    },
  };
}

function columns(changed: () => void): Column<Line>[] {
  return [
    { head: "Scope", cell: (line) => line.limit.scope },
    { head: "Name", cell: (line) => <Text value={line.name === "*" ? "* (each)" : line.name} /> },
    {
      head: "Most at once",
      as: "number",
      cell: (line) => line.limit.max_running ?? <span class="dim">–</span>,
    },
    { head: "Running", as: "number", cell: (line) => line.running ?? <span class="dim">–</span> },
    {
      head: "Rate",
      cell: ({ limit: { rate } }) =>
        rate ? (
          `${count(rate.tasks)} in ${duration(rate.period_ms)}, burst ${count(rate.burst)}`
        ) : (
          <span class="dim">–</span>
        ),
    },
    {
      head: "May start now",
      as: "number",
      cell: (line) => line.tokens ?? <span class="dim">–</span>,
    },
    {
      head: "",
      as: "wide",
      cell: (line) =>
        line.name === line.limit.name && (
          <span class="row-end">
            <Act
              small
              question={() => remove_question(line.limit, changed)}
              label={`Remove limit of ${line.limit.scope} ${line.name}`}
            >
              Remove
            </Act>
          </span>
        ),
    },
  ];
}

export function LimitSection() {
  const { found, pager } = use_pages<{ limits: Limit[] } & Paged>(in_store("/v1/limits"), [
    "tasks",
  ]);
  return (
    <Section title="Limits">
      <Loaded from={found}>
        {(answer) => (
          <Table
            label="Limits"
            columns={columns(found.reload)}
            rows={lines_of(answer.limits)}
            key_of={(line) => `${line.limit.scope}/${line.limit.name}/${line.name}`}
            empty={{
              sentence: "Nothing is limited: tasks run as soon as a worker is free.",
              command: "holdfast limit set kind import --rate 10/1s",
            }}
          />
        )}
      </Loaded>
      {found.data?.limits.map(
        (limit) =>
          limit.uses_left_out > 0 && (
            <p class="note" key={`${limit.scope}/${limit.name}`}>
              {plural(limit.uses_left_out, "more use")} of {limit.scope}{" "}
              <Text value={limit.name} /> not shown.
            </p>
          ),
      )}
      {pager}
    </Section>
  );
}
