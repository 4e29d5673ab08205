// The switch between light and dark. Until it is used, the page follows the system.

class Theme {
  constructor(button) {
    this.button = button;
    this.rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
      .filter((rule) => rule.media && rule.media.mediaText.includes("prefers-color-scheme"));
    this.show(localStorage.getItem("theme"));
    button.addEventListener("click", () => {
      const theme = isDark() ? "light" : "dark";
      localStorage.setItem("theme", theme);
      this.show(theme);
    });
    onThemeChange(() => setPressed(button, isDark()));
  }

  // theme: "light", "dark", or null for the system's.
  show(theme) {
    const media = { light: "not all", dark: "all" }[theme] || "(prefers-color-scheme: dark)";
    for (const rule of this.rules) rule.media.mediaText = media;
    document.dispatchEvent(new Event("themechange"));
    setPressed(this.button, isDark());
  }
}
