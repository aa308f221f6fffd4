import { in_store, post } from "../api/client";
import { use_resource } from "../api/resource";
import type { HttpRequest, HttpStats } from "../api/types";
import { Act } from "../parts/act";
import type { Question } from "../parts/ask";
import { Loaded, Page, Section } from "../parts/page";
import { use_pages } from "../parts/pages";
import type { Paged } from "../parts/pages";
import { Table } from "../parts/table";
import { Age, Id, Text } from "../parts/text";
import { Tiles } from "../parts/tiles";
import { address } from "../route";
import { count, duration, plural } from "../text/format";
import { Endpoints, HostsLeftAlone, Processes, Tallies } from "./http_tables";

const most_shown = 500;

function clear_question(changed: () => void): Question {
  return {
    title: "Clear the statistics?",
    sentence:
      "Status codes, errors and durations are counted from now on. The requests themselves stay.",
    verb: "Clear",
    dangerous: true,
    run: async () => {
      await post(in_store("/v1/http/stats/clear"));
      changed();
      return "The statistics begin now.";
    },
  };
}

export function Http() {
  const stats = use_resource<HttpStats>(in_store("/v1/http/stats"), ["tasks"]);
  const { found: flying, pager } = use_pages<{ requests: HttpRequest[] } & Paged>(
    in_store("/v1/http/requests", { limit: most_shown }),
    ["tasks"],
  );
  return (
    <Page
      title="HTTP"
      actions={<Act question={() => clear_question(stats.reload)}>Clear statistics</Act>}
    >
      <Loaded from={stats}>
        {(answer) => (
          <>
            <Numbers stats={answer} />
            <div class="columns">
              <Section title="Answers by status">
                <Tallies counts={answer.statuses} what="status" />
              </Section>
              <Section title="Errors by type">
                <Tallies counts={answer.errors} what="error" tone="bad" />
              </Section>
            </div>
            <Section title="Processes">
              <Processes processes={answer.processes} />
              <LeftOut number={answer.processes_left_out} one="process" many="processes" />
            </Section>
            <Section title="Hosts">
              <HostsLeftAlone hosts={answer.left_alone} />
              <LeftOut number={answer.left_alone_left_out} one="such host" many="such hosts" />
              <Endpoints endpoints={answer.endpoints} requests={flying.data?.requests ?? []} />
              <LeftOut number={answer.endpoints_left_out} one="host" many="hosts" />
            </Section>
          </>
        )}
      </Loaded>
      <Section title="In flight">
        <Loaded from={flying}>
          {(answer) => (
            <Table
              label="Requests in flight"
              rows={answer.requests}
              key_of={(request) => request.id}
              columns={[
                {
                  head: "Request",
                  cell: (request) => <Id id={request.id} href={address("tasks", request.id)} />,
                },
                { head: "Age", as: "number", cell: (request) => duration(request.age_ms) },
                { head: "Method", cell: (request) => <Text value={request.method} /> },
                { head: "Host", cell: (request) => <Text value={request.host} /> },
                { head: "Worker", cell: (request) => <Id id={request.worker} /> },
                {
                  head: "Heartbeat",
                  as: "number",
                  cell: (request) =>
                    request.heartbeat_age_ms === null ? "–" : duration(request.heartbeat_age_ms),
                },
              ]}
              empty={{
                sentence: "No request is in flight.",
                command: "holdfast http post https://example.org/hook --data '{}'",
              }}
            />
          )}
        </Loaded>
        {pager}
      </Section>
    </Page>
  );
}

function LeftOut({ number, one, many }: { number: number; one: string; many: string }) {
  return number > 0 ? <p class="note">{plural(number, `more ${one}`, `more ${many}`)}.</p> : null;
}

function Numbers({ stats }: { stats: HttpStats }) {
  const capacity = stats.processes.reduce((sum, process) => sum + process.capacity, 0);
  const seconds = (value: number) => (stats.measured > 0 ? duration(value * 1000) : "–");
  return (
    <Section
      title="Requests"
      aside={
        stats.since && (
          <span class="dim">
            cleared <Age at={stats.since} />
          </span>
        )
      }
    >
      <Tiles
        tiles={[
          { name: "In flight", value: count(stats.requests.running) },
          { name: "Capacity", value: count(capacity) },
          {
            name: "Waiting",
            value: count(stats.requests.pending),
            tone: capacity > 0 && stats.requests.running >= capacity ? "warn-text" : "",
          },
          { name: "Answered", value: count(stats.requests.completed) },
          {
            name: "Given up",
            value: count(stats.requests.failed),
            tone: stats.requests.failed > 0 ? "bad-text" : "",
          },
          { name: "On average", value: seconds(stats.mean_seconds) },
          { name: "Half within", value: seconds(stats.p50_seconds) },
          { name: "95 % within", value: seconds(stats.p95_seconds) },
          { name: "99 % within", value: seconds(stats.p99_seconds) },
        ]}
      />
      {!stats.complete && (
        <p class="dim">There is more than could be looked at in a moment: at least so many.</p>
      )}
      {capacity > 0 && stats.requests.running >= capacity && (
        <p class="warn-text">
          All processes are full: further requests wait. Start another one, or raise its --capacity.
        </p>
      )}
    </Section>
  );
}
