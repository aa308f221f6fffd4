import { createContext } from "preact";
import type { ComponentChildren } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { advice_for, Problem } from "../api/client";
import { Text } from "./text";

/** Something that changes the store: asked about first, and its result said afterwards. */
export interface Question {
  title: string;
  sentence: string;
  verb: string;
  dangerous?: boolean;
  /** Does it, and says in a sentence what was done. */
  run: (course: Course) => Promise<string>;
}

/** Of something that takes long. */
export interface Course {
  say: (sentence: string) => void;
  /** Whoever asked for it does not want it to go on. */
  stopped: () => boolean;
}

const Asking = createContext<(question: Question) => void>(() => undefined);

export function use_ask(): (question: Question) => void {
  return useContext(Asking);
}

type Stage = { at: "asked" } | { at: "running" | "done" | "failed"; sentence: string };

export function AskProvider({ children }: { children: ComponentChildren }) {
  const [question, set_question] = useState<Question>();
  return (
    <Asking.Provider value={set_question}>
      {children}
      {question && <Dialog question={question} close={() => set_question(undefined)} />}
    </Asking.Provider>
  );
}

/** Why something could not be done, and what to do about it. */
export function sentence_of(error: unknown): string {
  if (!(error instanceof Problem)) throw error;
  return `${error.message} ${advice_for(error)}`.trim();
}

function Dialog({ question, close }: { question: Question; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [stage, set_stage] = useState<Stage>({ at: "asked" });
  useEffect(() => dialog.current?.showModal(), []);
  const stopped = useRef(false);
  const run = async () => {
    const say = (sentence: string) => set_stage({ at: "running", sentence });
    say("Working…");
    try {
      const course = { say, stopped: () => stopped.current };
      set_stage({ at: "done", sentence: await question.run(course) });
    } catch (error) {
      set_stage({ at: "failed", sentence: sentence_of(error) });
    }
  };
  const over = stage.at === "done" || stage.at === "failed";
  return (
    <dialog
      ref={dialog}
      aria-labelledby="ask-title"
      onClose={() => {
        stopped.current = true;
        close();
      }}
    >
      <h2 id="ask-title">
        <Text value={question.title} />
      </h2>
      <p>
        <Text value={question.sentence} />
      </p>
      <p role="status" class={`result ${stage.at}`}>
        {stage.at !== "asked" && <Text value={stage.sentence} />}
      </p>
      <div class="buttons">
        {over ? (
          <button type="button" class="primary" autoFocus onClick={() => dialog.current?.close()}>
            Close
          </button>
        ) : (
          <>
            {stage.at === "running" ? (
              <button type="button" onClick={() => (stopped.current = true)}>
                Stop
              </button>
            ) : (
              <button type="button" onClick={() => dialog.current?.close()}>
                Leave as it is
              </button>
            )}
            <button
              type="button"
              class={question.dangerous ? "danger" : "primary"}
              disabled={stage.at === "running"}
              onClick={run}
            >
              {question.verb}
            </button>
          </>
        )}
      </div>
    </dialog>
  );
}
