import type { Batch } from "../api/types";
import { progress } from "../pace";
import { Bar } from "./bar";

export function BatchBar({ batch }: { batch: Batch }) {
  const { done, all } = progress(batch);
  const tone = batch.rows.failed > 0 ? "warn" : "good";
  return <Bar part={all > 0 ? done / all : 0} label="Rows done" tone={tone} />;
}
