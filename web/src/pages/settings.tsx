import { in_store } from "../api/client";
import { use_resource } from "../api/resource";
import type { Setting } from "../api/types";
import { Choice } from "../parts/choice";
import { Facts, Loaded, Page, Section } from "../parts/page";
import { Table } from "../parts/table";
import type { Column } from "../parts/table";
import { Text } from "../parts/text";
import { refine } from "../route";
import type { Route } from "../route";

const columns: Column<Setting>[] = [
  {
    head: "Setting",
    cell: (setting) => (
      <code>
        <Text value={setting.key} />
      </code>
    ),
  },
  {
    head: "Value",
    cell: (setting) => (
      <span class={setting.value === setting.default ? "" : "changed"}>
        <Text value={setting.value} />
      </span>
    ),
  },
  {
    head: "Default",
    cell: (setting) => (
      <span class="dim">
        <Text value={setting.default} />
      </span>
    ),
  },
  {
    head: "Allowed",
    as: "wide",
    cell: (setting) => (
      <span class="dim">
        <Text value={setting.allowed} />
      </span>
    ),
  },
];

export function Settings({ route }: { route: Route }) {
  const found = use_resource<{ settings: Setting[]; server: Record<string, string> }>(
    in_store("/v1/settings"),
    [],
    60_000,
  );
  const show = route.query.get("show") ?? "";
  return (
    <Page title="Settings">
      <Loaded from={found}>
        {(answer) => (
          <>
            <Section title="This server">
              <Facts
                facts={Object.entries(answer.server).map(([name, value]) => [
                  name,
                  <Text value={value} />,
                ])}
              />
            </Section>
            <Section
              title="In effect"
              aside={
                <Choice
                  label="Which settings"
                  all="all"
                  options={["changed"]}
                  chosen={show}
                  choose={(value) => refine(route, { show: value })}
                />
              }
            >
              <Table
                label="Settings"
                columns={columns}
                key_of={(setting) => setting.key}
                rows={answer.settings.filter((each) => show === "" || each.value !== each.default)}
                empty={{
                  sentence: "Every setting has its default.",
                  command: "holdfast serve --config holdfast.yaml",
                }}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}
