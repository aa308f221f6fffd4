import { post } from "../api/client";
import type { MadeToken, Token, TokenList } from "../api/types";
import { new_token } from "../new_token";
import { Act } from "../parts/act";
import type { Question } from "../parts/ask";
import { Empty } from "../parts/empty";
import { Entry } from "../parts/entry";
import type { EntryField } from "../parts/entry";
import { Loaded, Page, Section } from "../parts/page";
import { use_pages } from "../parts/pages";
import { Table } from "../parts/table";
import type { Column } from "../parts/table";
import { Age, Clock, State, Text } from "../parts/text";
import { use_refusal } from "../session";
import { count } from "../text/format";

function revoke_question(token: Token, changed: () => void): Question {
  return {
    title: `Revoke token ${token.name}?`,
    sentence: "Programs that use it are refused from now on. This cannot be undone.",
    verb: "Revoke",
    dangerous: true,
    run: async () => {
      await post(`/v1/tokens/${encodeURIComponent(token.name)}/revoke`);
      changed();
      return `Token ${token.name} is revoked.`;
    },
  };
}

function limits_of(token: Token, names: readonly string[]) {
  if (!token.scopes.includes("enqueue") && !token.scopes.includes("work"))
    return <span class="dim">–</span>;
  return names.length > 0 ? <Text value={names.join(", ")} /> : "all";
}

function quota_of(token: Token) {
  const parts: string[] = [];
  if (token.quota_per_minute !== null) parts.push(`${count(token.quota_per_minute)} a minute`);
  if (token.quota_waiting !== null) parts.push(`${count(token.quota_waiting)} waiting`);
  return parts.length > 0 ? parts.join(", ") : <span class="dim">–</span>;
}

function columns(changed: () => void): Column<Token>[] {
  return [
    { head: "Token", cell: (token) => <Text value={token.name} /> },
    {
      head: "State",
      cell: (token) => <State state={token.state} tone={token.state === "active" ? "good" : ""} />,
    },
    { head: "Scopes", cell: (token) => token.scopes.join(", ") },
    { head: "Queues", cell: (token) => limits_of(token, token.queues) },
    { head: "Kinds", cell: (token) => limits_of(token, token.kinds) },
    { head: "Quota", cell: quota_of },
    { head: "Created", cell: (token) => <Clock at={token.created} /> },
    { head: "By", cell: (token) => <Text value={token.created_by} /> },
    {
      head: "Expires",
      cell: (token) => (token.expires ? <Clock at={token.expires} /> : "never"),
    },
    {
      head: "Last used",
      as: "number",
      cell: (token) =>
        token.last_used ? <Age at={token.last_used} /> : <span class="dim">–</span>,
    },
    {
      head: "",
      as: "wide",
      cell: (token) =>
        token.state === "active" && (
          <span class="row-end">
            <Act
              small
              role="admin"
              question={() => revoke_question(token, changed)}
              label={`Revoke token ${token.name}`}
            >
              Revoke
            </Act>
          </span>
        ),
    },
  ];
}

const entry: EntryField[] = [
  { name: "name", label: "Name", hint: "orders", required: true },
  { name: "scopes", label: "Scopes", hint: "enqueue, metrics", required: true },
  { name: "queues", label: "Queues", hint: "all" },
  { name: "kinds", label: "Kinds", hint: "mail.*, invoice" },
  { name: "quota_per_minute", label: "Tasks a minute", hint: "no quota" },
  { name: "quota_waiting", label: "Tasks that wait", hint: "no quota" },
  { name: "days", label: "Valid for days", initial: "90" },
];

export function Tokens() {
  const refusal = use_refusal("admin");
  const { found, pager } = use_pages<TokenList>(refusal ? "" : "/v1/tokens", []);
  const add = async (values: Record<string, string>) => {
    const made = await post<MadeToken>("/v1/tokens", new_token(values, Date.now()));
    found.reload();
    return `Token ${made.token.name}: ${made.secret} (copy it now; it is not shown again)`;
  };
  if (refusal !== "")
    return (
      <Page title="Tokens">
        <Empty sentence={`Tokens cannot be seen here. ${refusal}.`} />
      </Page>
    );
  return (
    <Page title="Tokens">
      <Entry title="Add a token" verb="Add" role="admin" fields={entry} send={add} />
      <Section title="Tokens of programs">
        <Loaded from={found}>
          {(answer) => (
            <>
              {answer.faults.map((fault) => (
                <p key={fault} role="alert" class="bad-text">
                  <Text value={fault} />
                </p>
              ))}
              <Table
                label="Tokens"
                columns={columns(found.reload)}
                rows={answer.tokens}
                key_of={(token) => token.name}
                empty={{
                  sentence: "There are no tokens: only people can use this server.",
                  command: "holdfast token add orders --scope enqueue --queue orders",
                }}
              />
            </>
          )}
        </Loaded>
        {pager}
      </Section>
    </Page>
  );
}
