// The tabs: those that a loaded model can do, and the load.

const STALE_SECONDS = 10; // of the list of models, for someone who comes back to the page

class Tabs {
  constructor(panels) {
    this.panels = panels; // {name: panel}
    this.list = Object.keys(panels).map((name) => document.getElementById("tab-" + name));
    this.current = "";
    this.wanted = location.hash.slice(1); // the tab that the reader has chosen
    for (const tab of this.list) {
      tab.addEventListener("click", () => this.open(this.nameOf(tab), true));
      tab.addEventListener("keydown", (event) => this.onKey(event, tab));
    }
    addEventListener("hashchange", () => this.open((this.wanted = location.hash.slice(1))));
  }

  nameOf(tab) { return tab.id.slice("tab-".length); }
  get offered() { return this.list.filter((tab) => !tab.hidden); }

  // `can(name)`: whether a tab is offered. The one that the reader has chosen opens as soon as it is.
  offer(can) {
    for (const tab of this.list) tab.hidden = !can(this.nameOf(tab));
    const kept = this.current === "load" ? "" : this.current; // the load opens where there is nothing else
    const wanted = [this.wanted, kept, this.nameOf(this.offered[0])];
    this.open(wanted.find((name) => this.offered.some((tab) => this.nameOf(tab) === name)));
  }

  open(name, byUser = false) {
    if (byUser) this.wanted = name;
    if (name === this.current || !this.offered.some((tab) => this.nameOf(tab) === name)) return;
    if (this.current) this.panels[this.current].leave();
    this.current = name;
    for (const tab of this.list) {
      const open = this.nameOf(tab) === name;
      tab.setAttribute("aria-selected", String(open));
      tab.tabIndex = open ? 0 : -1;
      document.getElementById(this.nameOf(tab)).hidden = !open;
    }
    if (byUser) history.replaceState(null, "", "#" + name);
    this.panels[name].enter(byUser);
  }

  onKey(event, tab) {
    const { offered } = this;
    const at = offered.indexOf(tab);
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: -1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const chosen = offered.at(next % offered.length);
    this.open(this.nameOf(chosen), true);
    chosen.focus();
  }
}

const byId = (id) => document.getElementById(id);

async function start() {
  new Theme(byId("theme"));
  const server = new Server(byId("notice"), byId("key"));
  const models = new Models(server);
  const panels = {
    translate: new TranslatePanel(byId("translate"), server, models),
    chat: new ChatPanel(byId("chat"), server, models),
    search: new SearchPanel(byId("search"), server, models),
    attention: new AttendPanel(byId("attention"), server, models),
    load: new LoadPanel(byId("load"), server, models),
  };
  const tabs = new Tabs(panels);
  models.onChange = () => {
    tabs.offer((name) => name === "load" || models.that(name).length > 0);
    for (const panel of Object.values(panels)) panel.refresh();
  };
  server.onReturn = server.onUnknown = () => models.read();
  addEventListener("online", () => models.read());
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && performance.now() - models.readAt > STALE_SECONDS * 1000) models.read();
  });
  await models.read();
}

start();
