// ---- Theme: system setting or the user's choice ----

(() => {
  const button = document.getElementById("theme");
  const themes = ["system", "light", "dark"];
  let stored = null;
  try {
    stored = localStorage.getItem("graphgrain-theme");
  } catch {
    // Some browsers have no storage for local files; the choice is then lost on reload.
  }
  function set(theme) {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.lastElementChild.textContent = theme;
  }
  set(themes.includes(stored) ? stored : "system");
  button.hidden = false;
  button.addEventListener("click", () => {
    const now = themes.indexOf(button.lastElementChild.textContent);
    const theme = themes[(now + 1) % themes.length];
    set(theme);
    try {
      localStorage.setItem("graphgrain-theme", theme);
    } catch {
      // See above.
    }
  });
})();
