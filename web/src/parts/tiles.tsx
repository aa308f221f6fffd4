export interface Tile {
  name: string;
  value: string;
  tone?: string;
}

/** Numbers that are read at a glance. */
export function Tiles({ tiles }: { tiles: Tile[] }) {
  return (
    <dl class="tiles">
      {tiles.map(({ name, value, tone = "" }) => (
        <div class="tile" key={name}>
          <dt>{name}</dt>
          <dd class={tone}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
