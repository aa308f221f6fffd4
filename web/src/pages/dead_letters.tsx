import { in_store, post } from "../api/client";
import { never, use_resource } from "../api/resource";
import type { Changed, DeadLetter, DeadLetterWithBody } from "../api/types";
import { Act } from "../parts/act";
import type { Question } from "../parts/ask";
import { Facts, Loaded, Section } from "../parts/page";
import { use_pages } from "../parts/pages";
import type { Paged } from "../parts/pages";
import { Table } from "../parts/table";
import type { Column } from "../parts/table";
import { Text, TextBlock } from "../parts/text";
import { refine } from "../route";
import type { Route } from "../route";
import { use_refusal } from "../session";
import { count, plural } from "../text/format";
import { plain } from "../text/visible";

function question_of(
  verb: "replay" | "discard",
  letters: DeadLetter[],
  changed: () => void,
): Question {
  const what = plural(letters.length, "dead letter");
  return {
    title: verb === "replay" ? `Replay ${what}?` : `Discard ${what}?`,
    sentence:
      verb === "replay"
        ? "The message goes back into the queue that it came from."
        : "The message is removed for good.",
    verb: verb === "replay" ? "Replay" : "Discard",
    dangerous: verb === "discard",
    run: async () => {
      const names = letters.map((letter) => letter.letter);
      const { changed: number } = await post<Changed>(in_store(`/v1/dead-letters/${verb}`), {
        letters: names,
      });
      changed();
      return `${plural(number, "dead letter")} ${verb === "replay" ? "replayed" : "discarded"}.`;
    },
  };
}

/** In the list, so that the buttons behind it are seen. */
const most_of_a_reason = 200;

function columns_of(route: Route, changed: () => void): Column<DeadLetter>[] {
  return [
    {
      head: "Letter",
      cell: (each) => (
        <button
          type="button"
          class="small"
          aria-label={`Show dead letter ${each.letter}`}
          onClick={() => refine(route, { letter: each.letter })}
        >
          {each.letter}
        </button>
      ),
    },
    { head: "Message", cell: (each) => <Text value={each.id || "–"} /> },
    { head: "Queue", cell: (each) => <Text value={each.queue || "–"} /> },
    { head: "Bytes", as: "number", cell: (each) => count(each.bytes) },
    {
      head: "Reason",
      as: "wide",
      cell: (each) => <Text value={each.reason.slice(0, most_of_a_reason) || "–"} />,
    },
    {
      head: "",
      cell: (each) => (
        <>
          <Act
            small
            label={`Replay dead letter ${each.letter}`}
            question={() => question_of("replay", [each], changed)}
          >
            Replay
          </Act>{" "}
          <Act
            small
            label={`Discard dead letter ${each.letter}`}
            question={() => question_of("discard", [each], changed)}
          >
            Discard
          </Act>
        </>
      ),
    },
  ];
}

/** Messages that were rejected. Where the server knows no broker, it says so. */
export function DeadLetters({ route }: { route: Route }) {
  const { found, pager, here } = use_pages<{ dead_letters: DeadLetter[] } & Paged>(
    in_store("/v1/dead-letters", { limit: 50 }),
    [],
    never, // each look takes them out of their queue for a moment
  );
  const letters = found.data?.dead_letters;
  return (
    <Section
      title={letters ? plural(letters.length, "dead letter") + here : "Dead letters"}
      aside={
        <button type="button" class="small" onClick={found.reload}>
          Look again
        </button>
      }
    >
      <Loaded from={found}>
        {(answer) => (
          <Table
            label="Dead letters"
            columns={columns_of(route, found.reload)}
            rows={answer.dead_letters}
            key_of={(each) => each.letter}
            empty={{ sentence: "No message was rejected." }}
          />
        )}
      </Loaded>
      {pager}
      {route.query.get("letter") && <OneLetter letter={route.query.get("letter")!} />}
    </Section>
  );
}

function OneLetter({ letter }: { letter: string }) {
  const refusal = use_refusal("operator");
  const found = use_resource<DeadLetterWithBody>(
    refusal ? "" : in_store(`/v1/dead-letters/${encodeURIComponent(letter)}`),
    [],
    never,
  );
  if (refusal) return <p class="note">{refusal}</p>;
  return (
    <Loaded from={found}>
      {(answer) => (
        <>
          <h3>Dead letter {plain(letter)}</h3>
          <Facts
            facts={[
              ["Message", <Text value={answer.id || "–"} />],
              ["Queue", <Text value={answer.queue || "–"} />],
              ["Reason", <Text value={answer.reason || "–"} />],
              ["Bytes", count(answer.bytes) + (answer.truncated ? "; 512 KiB are shown" : "")],
            ]}
          />
          <TextBlock value={answer.body ?? `base64: ${answer.base64 ?? ""}`} label="Body" />
        </>
      )}
    </Loaded>
  );
}
