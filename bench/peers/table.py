"""The one table, in plain text."""

import math

COLUMNS = ["one by one", "bulk", "processed", "ours is", "pick-up p50", "p99", "peak RSS",
           "after kill -9"]


def per_second(value):
    return f"{value:.0f} /s" if value else "-"


def milliseconds(value):
    return f"{value * 1e3:.2f} ms" if value < 0.01 else f"{value * 1e3:.0f} ms"


def quantile(values, part):
    return values[min(int(len(values) * part), len(values) - 1)]


def again(peer, figures, limit):
    """When the job of a killed worker ran again."""
    if limit and not peer.killed:
        return "same"
    if figures.after_kill is None:
        return "-"
    if math.isinf(figures.after_kill):
        return f"> {limit} s"
    if figures.after_kill < 1:
        return milliseconds(figures.after_kill)
    return f"{figures.after_kill:.1f} s"


def cells(peer, figures, ours, limit):
    times = f"{ours / figures.processed:.1f} x" if ours and peer.name != "Holdfast" else ""
    return [per_second(figures.single), per_second(figures.bulk), per_second(figures.processed),
            times, milliseconds(quantile(figures.pick_up, 0.5)),
            milliseconds(quantile(figures.pick_up, 0.99)), f"{figures.peak_bytes / 1e6:.0f} MB",
            again(peer, figures, limit)]


def print_rows(rows):
    """A row is a list of cells, or a text across all columns."""
    widths = [max(len(row[i]) for row in rows if not isinstance(row, str))
              for i in range(len(COLUMNS) + 1)]
    for row in rows:
        if isinstance(row, str):
            print(f"\n{row}")
        else:
            print("  " + row[0].ljust(widths[0])
                  + "".join("  " + cell.rjust(width) for cell, width in zip(row[1:], widths[1:])))


def print_table(results, limit):
    """`results` has (group, [(peer, figures)])."""
    rows = [["", *COLUMNS]]
    for group, peers in results:
        rows.append(group.name)
        ours = next((figures.processed for peer, figures in peers if peer.name == "Holdfast"), None)
        rows += [[peer.name, *cells(peer, figures, ours, limit)] for peer, figures in peers]
    print_rows(rows)
    print("\nSettings")
    told = set()
    for _, peers in results:
        for peer, figures in peers:
            line = f"  {' '.join(filter(None, [peer.name, figures.version]))}: {figures.settings}"
            if line not in told:
                print(line)
                told.add(line)
