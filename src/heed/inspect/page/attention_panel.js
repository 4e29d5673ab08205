// The panel beside a view: the weights of the token under the pointer, or of the pinned one, as numbers.

const MAX_PANEL_ROWS = 12;

class AttentionPanel {
  constructor(view) {
    this.view = view;
    this.element = make("div", "panel");
    this.element.setAttribute("aria-live", "polite");
  }

  refresh() {
    const { focus, map } = this.view;
    if (!focus) {
      const hint = HAS_KEYBOARD ? "Point at a token to see its weights as numbers. Click to pin it."
        : "Press a token to see its weights as numbers.";
      this.element.replaceChildren(make("p", "note", hint));
      return;
    }
    const isQuery = focus.query !== undefined;
    const { queries, keys, kind } = map;
    const index = isQuery ? focus.query : focus.key;
    const weights = this.view.focusedWeights(isQuery ? { query: index } : { key: index });
    const content = [make("h3", "", isQuery ? queries[index] : keys[index]),
      make("div", "where", this.subtitle(isQuery, index))];
    const step = isQuery ? this.view.capture.step(kind, index) : null;
    if (step && step.next !== null)
      content.push(make("div", "where", `The decoder reads ${step.input}; the next target token is ${step.next}.`));
    else if (step) content.push(make("div", "where", `The decoder reads ${step.input}.`));
    if (isQuery && focus.key !== undefined)
      content.push(make("p", "", `→ ${keys[focus.key]}: `, make("b", "", percent(weights[focus.key]))));
    content.push(this.table(weights, isQuery, index));
    if (!isQuery) content.push(make("p", "note", "The weights of a key (a column) do not sum to 1 in general."));
    this.element.replaceChildren(...content);
  }

  subtitle(isQuery, index) {
    const { kind } = this.view.map;
    const heads = this.view.shownHeads;
    const averaged = heads.length === 1 ? `head ${heads[0]}` : `mean of ${heads.length} heads`;
    return isQuery
      ? `${kind.query} token ${index} attends to (${averaged})`
      : `${kind.key} token ${index} is attended to by (${averaged})`;
  }

  // The largest weights of the query (or key) `index`, with a bar for the contribution of each head.
  table(weights, isQuery, index) {
    const { map } = this.view;
    const others = isQuery ? map.keys : map.queries;
    const order = [...weights.keys()].filter((i) => weights[i] > 0)
      .sort((a, b) => weights[b] - weights[a]).slice(0, MAX_PANEL_ROWS);
    const table = make("table", "");
    const max = order.length ? weights[order[0]] : 1;
    for (const other of order) {
      const cell = isQuery ? index * map.keys.length + other : other * map.keys.length + index;
      const token = make("td", "token", make("bdi", "", others[other]), make("small", "", String(other)));
      token.title = others[other];
      table.append(make("tr", "", token, make("td", "", this.bar(weights[other], cell, max)),
        make("td", "number", percent(weights[other]))));
    }
    const masked = isQuery && map.kind.name === "decoder_self"; // later keys have no weight
    const left = (masked ? index + 1 : others.length) - order.length;
    const rest = 1 - order.reduce((sum, i) => sum + weights[i], 0);
    if (!order.length) table.append(make("tr", "rest", make("td", "", "no weights")));
    else if (isQuery && left > 0 && rest > 0.002)
      table.append(make("tr", "rest", make("td", "", `${left} other${left > 1 ? "s" : ""}`), make("td", ""),
        make("td", "number", percent(rest))));
    return table;
  }

  // A weight as a bar whose full width is `max`, divided among the heads unless only their mean is shown.
  bar(weight, cell, max) {
    const { view } = this;
    const track = make("div", "track");
    const addPart = (share, colour) => {
      const part = make("i", "");
      part.style.cssText = `width:${(100 * share).toFixed(2)}%;background:${colour}`;
      track.append(part);
    };
    if (view.mean || view.enlarged === "mean") {
      addPart(weight / max, view.ink("--accent"));
      return track;
    }
    const heads = view.shownHeads;
    for (const head of heads)
      addPart(WEIGHTS[view.map.codes(head)[cell]] / heads.length / max, view.colour(head));
    return track;
  }
}
