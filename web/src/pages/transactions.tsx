import { in_store } from "../api/client";
import type { Transaction } from "../api/types";
import { task_states } from "../filter";
import { Choice } from "../parts/choice";
import { Loaded, Page, Section } from "../parts/page";
import { use_pages } from "../parts/pages";
import type { Paged } from "../parts/pages";
import { Table } from "../parts/table";
import type { Column } from "../parts/table";
import { Age, Id, State, Text } from "../parts/text";
import { address, refine } from "../route";
import type { Route } from "../route";
import { plural } from "../text/format";
import { DeadLetters } from "./dead_letters";
import { TransactionSheet, trouble_of } from "./transaction_sheet";

export function Transactions({ route }: { route: Route }) {
  return route.id ? <TransactionSheet id={route.id} /> : <TransactionList route={route} />;
}

function remark(transaction: Transaction): string {
  return trouble_of(transaction) || transaction.reason || transaction.error;
}

const columns: Column<Transaction>[] = [
  {
    head: "Transaction",
    cell: (each) => (
      <Id id={each.id} href={address("transactions", each.id)} whole={each.id.length < 30} />
    ),
  },
  { head: "Machine", cell: (each) => <Text value={each.machine} /> },
  { head: "State", cell: (each) => <Text value={each.state || "not begun"} /> },
  { head: "Status", cell: (each) => <State state={each.task_state} /> },
  { head: "Created", as: "number", cell: (each) => <Age at={each.created_at} /> },
  { head: "Progress", as: "number", cell: (each) => <Age at={each.progressed_at} /> },
  { head: "Recovered", as: "number", cell: (each) => each.recoveries },
  {
    head: "Remark",
    as: "wide",
    cell: (each) => (
      <span class={trouble_of(each) ? "cut bad-text" : "cut"}>
        <Text value={remark(each)} />
      </span>
    ),
  },
];

function TransactionList({ route }: { route: Route }) {
  const state = route.query.get("state") ?? "";
  const machine = route.query.get("machine") ?? "";
  const { found, pager, here } = use_pages<
    { transactions: Transaction[]; complete: boolean } & Paged
  >(in_store("/v1/transactions", { state, machine, limit: 200 }), ["tasks"]);
  return (
    <Page title="Transactions">
      <Section
        title={
          found.data
            ? (found.data.complete ? "" : "At least ") +
              plural(found.data.transactions.length, "transaction") +
              here
            : "Transactions"
        }
        aside={
          <>
            <input
              class="small"
              aria-label="Machine"
              placeholder="machine"
              defaultValue={machine}
              onChange={(event) => refine(route, { machine: event.currentTarget.value.trim() })}
            />
            <Choice
              label="Status"
              all="all"
              options={task_states}
              chosen={state}
              choose={(value) => refine(route, { state: value })}
            />
          </>
        }
      >
        <Loaded from={found}>
          {(answer) => (
            <Table
              label="Transactions"
              columns={columns}
              rows={answer.transactions}
              key_of={(each) => each.id}
              empty={{
                sentence:
                  state || machine
                    ? "No transaction matches."
                    : "There are no transactions in this store yet.",
                command: "holdfast tx start MACHINE '{}'",
              }}
            />
          )}
        </Loaded>
        {pager}
      </Section>
      <DeadLetters route={route} />
    </Page>
  );
}
