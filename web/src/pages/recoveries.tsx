import { in_store, post } from "../api/client";
import { use_resource } from "../api/resource";
import type { RecoveryStatus, Report } from "../api/types";
import { Act } from "../parts/act";
import type { Question } from "../parts/ask";
import { Empty } from "../parts/empty";
import { Loaded, Page, Section } from "../parts/page";
import { use_pages } from "../parts/pages";
import type { Paged } from "../parts/pages";
import { Tiles } from "../parts/tiles";
import { Text } from "../parts/text";
import { count, plural } from "../text/format";
import { ReportCard } from "./recovery_report";

const newest = 50;
const tasks_of_each = 100;

function orphans_of(report: Report): number {
  const { pending, failed, held, cancelled } = report.orphans;
  return pending + failed + held + cancelled;
}

function recover_question(dry_run: boolean, changed: () => void): Question {
  return {
    title: dry_run ? "See what recovery would do?" : "Recover now?",
    sentence: dry_run
      ? "Nothing is changed."
      : "Takes back what dead workers held. Running workers do the same by themselves.",
    verb: dry_run ? "Look" : "Recover",
    run: async () => {
      const report = await post<Report>(in_store("/v1/recovery"), { dry_run });
      changed();
      const dead = plural(
        report.dead_workers.length + report.dead_workers_left_out,
        "dead worker",
      );
      const taken = plural(orphans_of(report), "task");
      return dry_run ? `${dead}; ${taken} would be taken back.` : `${dead}; ${taken} taken back.`;
    },
  };
}

export function Recoveries() {
  const status = use_resource<RecoveryStatus>(in_store("/v1/recovery"), ["recovery", "workers"]);
  const { found: reports, pager } = use_pages<{ reports: Report[] } & Paged>(
    in_store("/v1/recovery/reports", { limit: newest, tasks: tasks_of_each }),
    ["recovery", "report"],
  );
  const changed = () => {
    status.reload();
    reports.reload();
  };
  const actions = (
    <>
      <Act question={() => recover_question(true, changed)}>Dry run</Act>
      <Act question={() => recover_question(false, changed)}>Recover now</Act>
    </>
  );
  return (
    <Page title="Recoveries" actions={actions}>
      <Loaded from={status}>{(answer) => <Status status={answer} />}</Loaded>
      <Loaded from={reports}>
        {({ reports: list }) =>
          list.length === 0 ? (
            <Empty
              sentence="No recovery has had anything to do in this store. The demo kills workers:"
              command="holdfast demo"
            />
          ) : (
            <ol class="reports" aria-label="Reports, newest first">
              {list.map((report) => (
                <li key={report.id ?? report.started_at}>
                  <ReportCard report={report} />
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
      {pager}
    </Page>
  );
}

function sentence_of(status: RecoveryStatus): string {
  if (status.alarm) return status.alarm;
  if (status.recovery_running) return "A recovery is at work now.";
  if (status.waiting === 0) return "Nothing is waiting to be recovered.";
  const text = `${plural(status.waiting, "task")} of dead workers waits to be taken back`;
  return status.workers_running > 0
    ? `${text}; a worker will do it.`
    : `${text}, and no worker is running to do it: recover now, or start one.`;
}

function Status({ status }: { status: RecoveryStatus }) {
  const { totals } = status;
  return (
    <Section title="Since this store was made">
      <p class="lead" role="status">
        <Text value={sentence_of(status)} />
      </p>
      <Tiles
        tiles={[
          { name: "Recoveries", value: count(totals.recoveries) },
          { name: "Dead workers", value: count(totals.dead_workers) },
          { name: "Run again", value: count(totals.pending) },
          {
            name: "Failed",
            value: count(totals.failed),
            tone: totals.failed > 0 ? "bad-text" : "",
          },
          { name: "Held", value: count(totals.held), tone: totals.held > 0 ? "warn-text" : "" },
          { name: "Stale writes refused", value: count(totals.stale_writes_refused) },
        ]}
      />
    </Section>
  );
}
