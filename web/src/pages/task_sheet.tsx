import { useState } from "preact/hooks";
import { in_store } from "../api/client";
import { never, use_resource } from "../api/resource";
import type { LogLine, TaskWithHistory } from "../api/types";
import { Facts, Loaded, Page, Section } from "../parts/page";
import { use_pages } from "../parts/pages";
import type { Paged } from "../parts/pages";
import { Age, Clock, Id, JsonBlock, State, Text, TextBlock } from "../parts/text";
import { address } from "../route";
import { use_refusal } from "../session";
import { duration, plural } from "../text/format";
import { timeline } from "../timeline";
import { TaskActions } from "./task_actions";
import { Timeline } from "./task_timeline";

export function TaskSheet({ id }: { id: string }) {
  const path = `/v1/tasks/${encodeURIComponent(id)}`;
  const [reveal, set_reveal] = useState(false);
  const task = use_resource<TaskWithHistory>(in_store(path), ["tasks"]);
  // Each time that it is asked for is in the audit log, so it is asked for once.
  const revealed = use_resource<TaskWithHistory>(
    reveal ? in_store(path, { reveal: "true" }) : "",
    [],
    never,
  );
  const { found: logs, pager: log_pager } = use_pages<{ lines: LogLine[] } & Paged>(
    in_store(`${path}/logs`),
    ["tasks"],
  );
  const why = use_resource<{ explanation: string }>(in_store(`${path}/explain`), ["tasks"]);
  const changed = () => [task, logs, why].forEach((each) => each.reload());
  const steps = timeline(task.data?.history ?? [], logs.data?.lines ?? []);
  return (
    <Page
      title={`Task ${id}`}
      actions={task.data && <TaskActions task={task.data} changed={changed} />}
    >
      <p class="crumbs">
        <a href={address("tasks")}>All tasks</a>
      </p>
      <Loaded from={task}>
        {(found) => (
          <>
            <p class="lead" role="status">
              <State state={found.state} /> <Text value={why.data?.explanation ?? ""} />
            </p>
            <div class="columns">
              <Section title="What it is">
                <TaskFacts task={found} />
              </Section>
              <Section title="Timeline" aside={<span class="dim">token {found.token}</span>}>
                <Timeline entries={steps} />
                {found.history_left_out > 0 && (
                  <p class="note">{plural(found.history_left_out, "earlier step")} not shown.</p>
                )}
                {log_pager}
              </Section>
            </div>
            <Contents task={revealed.data ?? found} reveal={reveal} set_reveal={set_reveal} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function TaskFacts({ task }: { task: TaskWithHistory }) {
  const facts: Parameters<typeof Facts>[0]["facts"] = [
    ["Kind", <Text value={task.kind} />],
    ["Queue", <Text value={task.queue} />],
    ["Priority", task.priority],
    ["Attempt", `${task.attempt} of ${task.max_attempts}`],
    [
      "Created",
      <>
        <Clock at={task.created_at} /> (<Age at={task.created_at} />)
      </>,
    ],
  ];
  if (task.state === "pending") facts.push(["Due", <Age at={task.run_at} />]);
  if (task.claimed_at)
    facts.push([
      "Claimed",
      <>
        <Clock at={task.claimed_at} /> (<Age at={task.claimed_at} />)
      </>,
    ]);
  if (task.finished_at)
    facts.push([
      "Finished",
      <>
        <Clock at={task.finished_at} /> (<Age at={task.finished_at} />)
      </>,
    ]);
  if (task.claimed_at && task.finished_at)
    facts.push(["Took", duration(Date.parse(task.finished_at) - Date.parse(task.claimed_at))]);
  if (task.worker) facts.push(["Worker", <Id id={task.worker} whole />]);
  if (task.state === "running" && task.progress > 0)
    facts.push([
      "Progress",
      <>
        {Math.round(task.progress * 100)} % <Text value={task.progress_text ?? ""} />
      </>,
    ]);
  facts.push(["Timeout", duration(task.timeout_ms)]);
  if (task.recoveries > 0 || task.crashes > 0)
    facts.push([
      "Recovered",
      `${plural(task.recoveries, "time")}, ${plural(task.crashes, "crash", "crashes")} of its own` +
        (task.suspect ? "; runs alone next" : ""),
    ]);
  if (task.unique_key) facts.push(["Unique key", <Text value={task.unique_key} />]);
  if (task.limit_key) facts.push(["Limit key", <Text value={task.limit_key} />]);
  if (task.tags.length > 0) facts.push(["Tags", <Text value={task.tags.join(", ")} />]);
  if (task.waits_for.length > 0)
    facts.push([
      "Waits for",
      task.waits_for.map((id) => <Id key={id} id={id} href={address("tasks", id)} />),
    ]);
  if (task.cause) facts.push(["Cause", <Text value={task.cause} />]);
  return <Facts facts={facts} />;
}

function Contents({
  task,
  reveal,
  set_reveal,
}: {
  task: TaskWithHistory;
  reveal: boolean;
  set_reveal: (reveal: boolean) => void;
}) {
  const refusal = use_refusal("operator");
  const button = task.hidden && !reveal && (
    <button
      type="button"
      class="small"
      disabled={refusal !== ""}
      onClick={() => set_reveal(true)}
      title={refusal || "This is written into the audit log"}
    >
      Show hidden fields
    </button>
  );
  return (
    <>
      {task.error && (
        <Section title="Error">
          <TextBlock value={task.error} label="Error" />
        </Section>
      )}
      <Section title="Payload" aside={button}>
        <JsonBlock value={task.payload} label="Payload" />
      </Section>
      {task.result !== null && (
        <Section title="Result">
          <JsonBlock value={task.result} label="Result" />
        </Section>
      )}
    </>
  );
}
