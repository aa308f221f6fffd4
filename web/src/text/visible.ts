/** A run of text as it is, or one character that would act on the page instead of being seen. */
export interface Piece {
  text: string;
  marked: boolean;
}

// Control characters except line feed and tab; what turns the direction of the text around it; what
// has no width; what is not a character at all (a lone half of a pair). The two joiners
// (U+200C, U+200D) are left alone, because words in several scripts and many emoji need them.
const ranges = [
  "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f",
  "\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069",
  "\\u00ad\\u180e\\u200b\\u2060-\\u2065\\u206a-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}",
  "\\ud800-\\udfff",
];
const acting = new RegExp(`[${ranges.join("")}]`, "gu");

/** `U+202E` */
export function code_name(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return "U+" + code.toString(16).toUpperCase().padStart(4, "0");
}

export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(acting)) {
    if (match.index > end) found.push({ text: text.slice(end, match.index), marked: false });
    found.push({ text: code_name(match[0]), marked: true });
    end = match.index + match[0].length;
  }
  if (end < text.length) found.push({ text: text.slice(end), marked: false });
  return found;
}

/** The same as one string, for titles and labels, where nothing can be set apart. */
export function plain(text: string): string {
  return pieces(text)
    .map((piece) => (piece.marked ? `[${piece.text}]` : piece.text))
    .join("");
}
