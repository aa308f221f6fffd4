import { get_all, in_store, post, post_text, Problem } from "../api/client";
import type { AddedSchedule, Schedule } from "../api/types";
import { no_filter, query_of } from "../filter";
import { Act } from "../parts/act";
import type { Question } from "../parts/ask";
import { Entry } from "../parts/entry";
import type { EntryField } from "../parts/entry";
import { Loaded, Page, Section } from "../parts/page";
import { use_pages } from "../parts/pages";
import type { Paged } from "../parts/pages";
import { Table } from "../parts/table";
import type { Column } from "../parts/table";
import { Age, State, Text } from "../parts/text";
import { schedule_text } from "../new_task";
import { address } from "../route";
import { LimitSection } from "./limits";

type Verb = "pause" | "resume" | "remove";

const wordings: Record<Verb, [string, string, string]> = {
  pause: ["Pause", "It fires no more until it is resumed.", "is paused"],
  resume: ["Resume", "It goes on with its next time.", "runs again"],
  remove: ["Remove", "It is gone for good. The tasks that it enqueued stay.", "is removed"],
};

function question_of(verb: Verb, name: string, changed: () => void): Question {
  const [word, sentence, done] = wordings[verb];
  return {
    title: `${word} schedule ${name}?`,
    sentence,
    verb: word,
    dangerous: verb === "remove",
    run: async () => {
      await post(in_store(`/v1/schedules/${encodeURIComponent(name)}/${verb}`));
      changed();
      return `Schedule ${name} ${done}.`;
    },
  };
}

function columns(changed: () => void): Column<Schedule>[] {
  const act = (verb: Verb, schedule: Schedule) => (
    <Act
      small
      question={() => question_of(verb, schedule.name, changed)}
      label={`${wordings[verb][0]} schedule ${schedule.name}`}
    >
      {wordings[verb][0]}
    </Act>
  );
  return [
    {
      head: "Schedule",
      cell: (schedule) => (
        <a
          href={address("tasks", "", query_of({ ...no_filter, tag: `schedule-${schedule.name}` }))}
        >
          <Text value={schedule.name} />
        </a>
      ),
    },
    {
      head: "Times",
      cell: (schedule) => (
        <code>
          <Text value={schedule.cron} />
        </code>
      ),
    },
    { head: "Zone", cell: (schedule) => <Text value={schedule.zone} /> },
    {
      head: "Next",
      as: "number",
      cell: (schedule) => (schedule.paused ? <State state="paused" /> : <Age at={schedule.next} />),
    },
    { head: "Last", as: "number", cell: (schedule) => <Age at={schedule.last_fired} /> },
    { head: "Kind", cell: (schedule) => <Text value={schedule.kind} /> },
    { head: "Queue", cell: (schedule) => <Text value={schedule.queue} /> },
    { head: "Missed", cell: (schedule) => schedule.missed },
    {
      head: "",
      as: "wide",
      cell: (schedule) => (
        <span class="row-end">
          {act(schedule.paused ? "resume" : "pause", schedule)}
          {act("remove", schedule)}
        </span>
      ),
    },
  ];
}

const entry: EntryField[] = [
  { name: "name", label: "Name", hint: "nightly", required: true },
  { name: "cron", label: "Times", hint: "30 2 * * *", required: true },
  { name: "zone", label: "Zone", hint: "UTC" },
  { name: "missed", label: "Missed times", initial: "once", choices: ["skip", "once", "all"] },
  { name: "kind", label: "Kind", required: true },
  { name: "queue", label: "Queue", hint: "default" },
  { name: "payload", label: "Payload", initial: "{}", long: true },
];

/**
 * To add one that is there would replace it, with everything that this form does not have. The
 * server is asked, because what the page shows may be some seconds old.
 */
async function expect_new(name: string): Promise<void> {
  const path = in_store("/v1/schedules");
  const { schedules } = await get_all<{ schedules: Schedule[] } & Paged>(path, "schedules");
  if (!schedules.some((schedule) => schedule.name === name)) return;
  const sentence = `There is a schedule ${name} already: remove it first, or choose another name.`;
  throw new Problem(409, "exists", sentence, "");
}

async function add(values: Record<string, string>): Promise<string> {
  await expect_new(values["name"] ?? "");
  const answer = await post_text<AddedSchedule>(in_store("/v1/schedules"), schedule_text(values));
  const next = answer.next ? `; its next time is ${answer.next}` : "";
  return `Schedule ${values["name"]} is ${answer.result}${next}.`;
}

export function Schedules() {
  const { found, pager } = use_pages<{ schedules: Schedule[] } & Paged>(
    in_store("/v1/schedules"),
    ["tasks"],
  );
  return (
    <Page title="Schedules and limits">
      <Entry
        title="Add a schedule"
        verb="Add"
        fields={entry}
        send={async (values) => {
          const done = await add(values);
          found.reload();
          return done;
        }}
      />
      <Section title="Schedules">
        <Loaded from={found}>
          {(answer) => (
            <Table
              label="Schedules"
              columns={columns(found.reload)}
              rows={answer.schedules}
              key_of={(schedule) => schedule.name}
              empty={{
                sentence: "Nothing is enqueued by itself: there are no schedules.",
                command: "holdfast schedule add nightly '30 2 * * *' clean_up --zone Europe/Berlin",
              }}
            />
          )}
        </Loaded>
        {pager}
      </Section>
      <LimitSection />
    </Page>
  );
}
