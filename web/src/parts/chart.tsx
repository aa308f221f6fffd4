import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { alone } from "../history";
import { compact, time_labels } from "../text/format";

export interface Line {
  name: string;
  /** One of the tones that the style sheet gives colours to. */
  tone: string;
  values: (number | null)[];
}

interface Props {
  title: string;
  times: number[];
  lines: Line[];
  /** How a value is written, here and on the axis. */
  format?: (value: number) => string;
  /** Distances between the lines of the axis that read well in this format. */
  steps?: number[];
  /** Charts with the same name move their cross-hairs together. */
  group?: string;
}

const height = 150;

// The canvas knows no style sheet, so the colours are read from elements that have them.
function colour_of(element: Element | null | undefined): string {
  return element ? getComputedStyle(element).color : "gray";
}

/** Room for the labels of an axis, in a font of 11 px; there are none before anything is drawn. */
function width_of(labels: string[] | null): number {
  const longest = Math.max(0, ...(labels ?? []).map((label) => label.length));
  return Math.max(52, 14 + 6 * longest);
}

function options_for(root: HTMLElement, props: Props): uPlot.Options {
  const format = props.format ?? compact;
  const dim = colour_of(root.querySelector(".chart-key"));
  const grid = { stroke: colour_of(root.querySelector(".chart-grid")), width: 1 };
  const keys = root.querySelectorAll(".chart-key i");
  const font = "11px system-ui, sans-serif";
  return {
    width: root.clientWidth || 300,
    height,
    padding: [8, 20, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 6 }, sync: { key: props.group ?? props.title } },
    scales: { y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] } },
    axes: [
      {
        stroke: dim,
        grid: { show: false },
        ticks: { show: false },
        font,
        size: 22,
        space: 64,
        values: (_plot, times) => time_labels(times),
      },
      {
        stroke: dim,
        grid,
        ticks: { show: false },
        font,
        size: (_plot, labels) => width_of(labels),
        space: 28,
        values: (_plot, values) => values.map(format),
        ...(props.steps && { incrs: props.steps }),
      },
    ],
    series: [
      {},
      ...props.lines.map((line, i) => ({
        label: line.name,
        stroke: colour_of(keys[i]),
        width: 1.5,
        points: {
          show: false,
          size: 5,
          fill: colour_of(keys[i]),
          filter: (plot: uPlot, column: number) => alone(plot.data[column] ?? []),
        },
        spanGaps: false,
      })),
    ],
  };
}

function newest(values: (number | null)[]): number | null {
  for (let i = values.length - 1; i >= 0; --i) {
    const value = values[i];
    if (value !== null && value !== undefined) return value;
  }
  return null;
}

function use_theme_changes(): number {
  const [changes, set_changes] = useState(0);
  useEffect(() => {
    const changed = () => set_changes((number) => number + 1);
    const system = matchMedia("(prefers-color-scheme: dark)");
    addEventListener("themechange", changed);
    system.addEventListener("change", changed);
    return () => {
      removeEventListener("themechange", changed);
      system.removeEventListener("change", changed);
    };
  }, []);
  return changes;
}

export function Chart(props: Props) {
  const { title, times, lines } = props;
  const format = props.format ?? compact;
  const root = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  const [at, set_at] = useState<number | null>(null);
  const changes = use_theme_changes();
  const data = useMemo<uPlot.AlignedData>(
    () => [times, ...lines.map((line) => line.values)],
    [times, lines],
  );
  const shape = lines.map((line) => line.name + line.tone).join();

  useEffect(() => {
    const place = root.current;
    if (!place) return;
    const options = options_for(place, props);
    options.hooks = { setCursor: [(self) => set_at(self.cursor.idx ?? null)] };
    const made = new uPlot(options, data, place.querySelector<HTMLElement>(".chart-plot")!);
    plot.current = made;
    const sizes = new ResizeObserver(() => {
      if (place.clientWidth > 0) made.setSize({ width: place.clientWidth, height });
    });
    sizes.observe(place);
    return () => {
      sizes.disconnect();
      made.destroy();
    };
  }, [shape, changes]);

  useEffect(() => plot.current?.setData(data), [data]);

  const shown = (line: Line) => {
    const value = at === null ? newest(line.values) : line.values[at];
    return value === null || value === undefined ? "–" : format(value);
  };
  const summary = lines.map((line) => `${line.name} ${shown(line)}`).join(", ");
  return (
    <figure class="chart" ref={root}>
      <figcaption>
        <span class="chart-title">{title}</span>
        <span class="chart-grid" />
        {lines.map((line) => (
          <span class="chart-key" key={line.name}>
            <i class={line.tone} />
            {line.name} <b>{shown(line)}</b>
          </span>
        ))}
      </figcaption>
      <div class="chart-plot" role="img" aria-label={`${title}, newest: ${summary}`} />
    </figure>
  );
}
