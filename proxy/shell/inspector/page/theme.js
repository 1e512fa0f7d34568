// Dark and light: as the system is, until somebody chooses.

const THEME = "inspector-theme";
const root = document.documentElement;

export function restore() {
  const chosen = localStorage.getItem(THEME);
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
}

export function change() {
  const now = root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  root.dataset.theme = now === "dark" ? "light" : "dark";
  localStorage.setItem(THEME, root.dataset.theme);
}
