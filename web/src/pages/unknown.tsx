import { Page } from "../parts/page";
import { Empty } from "../parts/empty";
import { address } from "../route";

export function Unknown() {
  return (
    <Page title="No such page">
      <Empty sentence="There is no page at this address. It may be from another version." />
      <p>
        <a href={address("")}>To the overview</a>
      </p>
    </Page>
  );
}
