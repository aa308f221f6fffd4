import { in_store } from "../api/client";
import { use_resource } from "../api/resource";
import type { Health, Kinds, Queues } from "../api/types";
import { Loaded, Page, Section } from "../parts/page";
import { use_pages } from "../parts/pages";
import { Text } from "../parts/text";
import type { Route } from "../route";
import { History } from "./overview_history";
import { KindTable } from "./overview_kinds";
import { QueueTable } from "./overview_queues";

export function Overview({ route }: { route: Route }) {
  const health = use_resource<Health>(in_store("/v1/health"), ["queues", "workers", "recovery"]);
  const { found: queues, pager } = use_pages<Queues>(in_store("/v1/queues"), ["queues"]);
  const kinds = use_resource<Kinds>(in_store("/v1/metrics/kinds"), [], 10_000);
  return (
    <Page title="Overview">
      <Loaded from={health}>{(answer) => <HealthList health={answer} />}</Loaded>
      <History route={route} />
      <Section title="Queues">
        <Loaded from={queues}>
          {(answer) => <QueueTable queues={answer.queues} changed={queues.reload} />}
        </Loaded>
        {pager}
      </Section>
      <Section title="Kinds" aside={<span class="dim">in the last hour</span>}>
        <Loaded from={kinds}>{(answer) => <KindTable kinds={answer.kinds} />}</Loaded>
      </Section>
    </Page>
  );
}

const tones = { good: "good", warning: "warn", bad: "bad" };

function HealthList({ health }: { health: Health }) {
  return (
    <ul class="health" aria-label="Health">
      {health.checks.map((check) => (
        <li key={check.about} class={tones[check.level]}>
          <strong>{check.about}</strong>
          <span class="hidden">{check.level}: </span>
          <Text value={check.sentence} />
        </li>
      ))}
    </ul>
  );
}
