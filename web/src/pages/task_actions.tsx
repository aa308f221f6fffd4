import { in_store, post } from "../api/client";
import type { Changed, TaskWithHistory } from "../api/types";
import { Act } from "../parts/act";
import type { Question } from "../parts/ask";

type Verb = "retry" | "cancel" | "force" | "hold";

interface Wording {
  name: string;
  sentence: string;
  done: string;
  dangerous?: boolean;
}

const wordings: Record<Verb, Wording> = {
  retry: {
    name: "Retry",
    sentence: "It runs again, with fresh attempts and as soon as a worker is free.",
    done: "The task will run again.",
  },
  cancel: {
    name: "Cancel",
    sentence:
      "A waiting task is cancelled at once, with its followers. A running one is asked to stop.",
    done: "The task is cancelled, or was asked to stop.",
    dangerous: true,
  },
  force: {
    name: "Cancel by force",
    sentence:
      "It is taken from its worker now, and whatever that worker still writes for it is refused.",
    done: "The task was taken from its worker and is cancelled.",
    dangerous: true,
  },
  hold: {
    name: "Hold",
    sentence: "It does not run until somebody retries it.",
    done: "The task is held.",
  },
};

function body_of(verb: Verb, id: string): Record<string, unknown> {
  if (verb === "force") return { ids: [id], force: true };
  return verb === "hold" ? { ids: [id], cause: "held from the dashboard" } : { ids: [id] };
}

function question_of(verb: Verb, task: TaskWithHistory, changed: () => void): Question {
  const wording = wordings[verb];
  return {
    title: `${wording.name}: ${task.kind}?`,
    sentence: wording.sentence,
    verb: wording.name,
    ...(wording.dangerous && { dangerous: true }),
    run: async () => {
      const route = verb === "force" ? "cancel" : verb;
      const answer = await post<Changed>(in_store(`/v1/tasks/${route}`), body_of(verb, task.id));
      changed();
      return answer.changed > 0
        ? wording.done
        : "Nothing was changed: its state does not allow this any more.";
    },
  };
}

const possible: Record<Verb, TaskWithHistory["state"][]> = {
  retry: ["failed", "held", "cancelled"],
  cancel: ["pending", "running", "blocked", "held", "failed"],
  force: ["running"],
  hold: ["pending", "blocked"],
};

export function TaskActions({ task, changed }: { task: TaskWithHistory; changed: () => void }) {
  const verbs = (Object.keys(possible) as Verb[]).filter((verb) =>
    possible[verb].includes(task.state),
  );
  return (
    <>
      {verbs.map((verb) => (
        <Act key={verb} question={() => question_of(verb, task, changed)}>
          {wordings[verb].name}
        </Act>
      ))}
    </>
  );
}
