// A conversation that branches. A message may have several versions of what follows it, of which one is open:
// an edited question and a regenerated answer are versions beside the first one.

class Conversation {
  // nodes: {parent, open, role, content, ...}, where `parent` is an index and `open` that of the open version of what
  // follows, or -1. The first stands before all messages.
  constructor(nodes = [{ parent: -1, open: -1 }]) { this.nodes = nodes; }

  // The messages that are open, in their order.
  get path() {
    const path = [];
    for (let at = this.nodes[0].open; at >= 0; at = this.nodes[at].open) path.push(this.nodes[at]);
    return path;
  }

  // Those before a message, and it.
  pathTo(node) {
    const path = [];
    for (let at = node; at !== this.nodes[0]; at = this.nodes[at.parent]) path.unshift(at);
    return path;
  }

  // A message and its other versions.
  versions(node) { return this.nodes.filter((other) => other.parent === node.parent && other.parent >= 0); }

  // Adds a message after another, without one before all, and opens it.
  add(data, parent = this.nodes[0]) {
    const node = { parent: this.nodes.indexOf(parent), open: -1, ...data };
    parent.open = this.nodes.push(node) - 1;
    return node;
  }

  addVersion(node, data) { return this.add(data, this.nodes[node.parent]); }

  show(node) { this.nodes[node.parent].open = this.nodes.indexOf(node); }
}
