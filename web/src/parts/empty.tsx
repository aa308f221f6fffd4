import { useState } from "preact/hooks";

/** Nothing is here, and what would fill it. */
export function Empty({ sentence, command }: { sentence: string; command?: string }) {
  return (
    <div class="empty">
      <p>{sentence}</p>
      {command && <Command text={command} />}
    </div>
  );
}

export function Command({ text }: { text: string }) {
  const [copied, set_copied] = useState(false);
  const copy = () => {
    // Without https, and not on this host, a browser has no clipboard for us; the text can be
    // selected all the same.
    void navigator.clipboard?.writeText(text).then(() => set_copied(true));
  };
  return (
    <div class="command">
      <code>{text}</code>
      <button type="button" class="small" onClick={copy}>
        {copied ? "Copied" : "Copy"}
      </button>
    </div>
  );
}
