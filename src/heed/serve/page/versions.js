// "‹ 2/3 ›": the versions of a message, one of which is shown.
class VersionSwitch {
  constructor(choose) {
    const step = (sign, by, label) => {
      const button = makeButton("icon", sign, () => choose(this.nodes[this.nodes.indexOf(this.node) + by]));
      button.setAttribute("aria-label", label);
      return button;
    };
    this.back = step("‹", -1, "Previous version");
    this.next = step("›", 1, "Next version");
    this.count = make("span", "note", "");
    this.element = make("span", "versions", this.back, this.count, this.next);
  }

  show(nodes, node) {
    Object.assign(this, { nodes, node });
    const at = nodes.indexOf(node);
    this.element.hidden = nodes.length < 2;
    this.count.textContent = `${at + 1}/${nodes.length}`;
    this.back.disabled = at === 0;
    this.next.disabled = at === nodes.length - 1;
  }
}
