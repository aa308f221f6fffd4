export type Theme = "system" | "light" | "dark";

const key = "holdfast-theme";

// A browser may forbid storage; then the choice lasts as long as the page.
function stored(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function chosen_theme(): Theme {
  const theme = stored();
  return theme === "light" || theme === "dark" ? theme : "system";
}

export function apply_theme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  dispatchEvent(new Event("themechange"));
}

export function choose_theme(theme: Theme): void {
  try {
    localStorage.setItem(key, theme);
  } catch {
    // Storage is forbidden, see above.
  }
  apply_theme(theme);
}

export function next_theme(theme: Theme): Theme {
  return theme === "system" ? "light" : theme === "light" ? "dark" : "system";
}
