import type { HttpRequest, HttpStats } from "../api/types";
import { Bar } from "../parts/bar";
import { Table } from "../parts/table";
import { Id, Text } from "../parts/text";
import { count, duration } from "../text/format";

function tone_of(status: string): string {
  return status.startsWith("2") ? "good" : status.startsWith("5") ? "bad" : "warn";
}

/** How often each came, with its part of all. */
export function Tallies({
  counts,
  what,
  tone,
}: {
  counts: Record<string, number>;
  what: string;
  tone?: string;
}) {
  const all = Object.values(counts).reduce((sum, each) => sum + each, 0);
  const rows = Object.entries(counts).sort((one, other) => other[1] - one[1]);
  return (
    <Table
      label={`Counts by ${what}`}
      rows={rows}
      key_of={([name]) => name}
      columns={[
        { head: what, cell: ([name]) => <Text value={name} /> },
        { head: "count", as: "number", cell: ([, number]) => count(number) },
        {
          head: "part",
          as: "wide",
          cell: ([name, number]) => (
            <Bar part={number / all} label={`${what} ${name}`} tone={tone ?? tone_of(name)} />
          ),
        },
      ]}
      empty={{
        sentence: what === "error" ? "No request has failed." : "No request has been answered.",
      }}
    />
  );
}

export function Processes({ processes }: { processes: HttpStats["processes"] }) {
  return (
    <Table
      label="Processes"
      rows={processes}
      key_of={(process) => process.worker}
      columns={[
        { head: "Worker", cell: (process) => <Id id={process.worker} /> },
        { head: "Host", cell: (process) => <Text value={process.host} /> },
        { head: "Pid", as: "number", cell: (process) => process.pid },
        { head: "State", cell: (process) => <Text value={process.state} /> },
        { head: "In flight", as: "number", cell: (process) => count(process.in_flight) },
        { head: "Capacity", as: "number", cell: (process) => count(process.capacity) },
        { head: "Exceeded", as: "number", cell: (process) => count(process.capacity_exceeded) },
        {
          head: "Utilisation",
          as: "wide",
          cell: (process) => (
            <Bar
              part={process.utilisation}
              label="Utilisation"
              tone={process.utilisation >= 1 ? "bad" : process.utilisation > 0.8 ? "warn" : "busy"}
            />
          ),
        },
      ]}
      empty={{
        sentence: "No process performs requests, so they wait.",
        command: "holdfast http run",
      }}
    />
  );
}

/** Why requests to a host wait although there is room. */
export function HostsLeftAlone({ hosts }: { hosts: HttpStats["left_alone"] }) {
  return (
    <>
      {hosts.map((host) => (
        <p key={host.host} class="warn-text">
          <Text value={`${host.sentence}.`} /> Its requests wait, and are not charged.
        </p>
      ))}
    </>
  );
}

type Endpoint = HttpStats["endpoints"][number];

/** Every host that was asked, or is being asked now for the first time. */
function with_flying(endpoints: Endpoint[], flying: Map<string, number>): Endpoint[] {
  const known = new Set(endpoints.map((endpoint) => endpoint.host));
  const others = [...flying.keys()].filter((host) => !known.has(host));
  const nothing = { requests: 0, unanswered: 0, server_errors: 0, p95_seconds: 0 };
  return [...endpoints, ...others.map((host) => ({ host, ...nothing }))];
}

export function Endpoints({
  endpoints,
  requests,
}: {
  endpoints: Endpoint[];
  requests: HttpRequest[];
}) {
  const flying = new Map<string, number>();
  for (const { host } of requests) flying.set(host, (flying.get(host) ?? 0) + 1);
  return (
    <Table
      label="Hosts"
      rows={with_flying(endpoints, flying)}
      key_of={(endpoint) => endpoint.host}
      columns={[
        { head: "Host", cell: (endpoint) => <Text value={endpoint.host || "(not known)"} /> },
        { head: "In flight", as: "number", cell: (each) => count(flying.get(each.host) ?? 0) },
        { head: "Requests", as: "number", cell: (endpoint) => count(endpoint.requests) },
        { head: "Unanswered", as: "number", cell: (endpoint) => count(endpoint.unanswered) },
        { head: "5xx", as: "number", cell: (endpoint) => count(endpoint.server_errors) },
        {
          head: "95 % within",
          as: "number",
          cell: (endpoint) => duration(endpoint.p95_seconds * 1000),
        },
      ]}
      empty={{ sentence: "No host has been asked for anything yet." }}
    />
  );
}
