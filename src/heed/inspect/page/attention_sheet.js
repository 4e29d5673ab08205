// A large drawing of which only the part in sight is ever drawn: a scrolling box, a spacer as large
// as the drawing, and a canvas as large as the box that stays where the box is.

class Sheet {
  // draw(context, area): the part `area` {x, y, width, height} of the drawing, in its coordinates.
  // at(point): what lies under a point, for the pointer's listeners.
  constructor(box, draw, at) {
    this.box = box;
    this.draw = draw;
    this.at = at;
    this.spacer = document.createElement("div");
    this.spacer.className = "spacer";
    this.canvas = document.createElement("canvas");
    this.canvas.className = "sheet";
    this.context = this.canvas.getContext("2d");
    this.spacer.append(this.canvas);
    box.append(this.spacer);
    this.pending = false;
    box.onscroll = () => this.redraw();
  }

  visibleWidth() { return this.box.clientWidth; }

  resize(width, height, visibleHeight) {
    this.width = width;
    this.box.style.height = visibleHeight + "px";
    this.spacer.style.width = width + "px";
    this.spacer.style.height = height + "px";
    this.redraw();
  }

  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      if (this.canvas.isConnected) this.paint();
    });
  }

  paint() {
    const ratio = devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height, scrollLeft: x, scrollTop: y } = this.box;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.width = width + "px";
      this.canvas.style.height = height + "px";
    }
    this.context.setTransform(ratio, 0, 0, ratio, -x * ratio, -y * ratio);
    this.context.clearRect(x, y, width, height);
    this.draw(this.context, { x, y, width, height });
  }

  under(event) {
    const frame = this.canvas.getBoundingClientRect();
    const [viewX, viewY] = [event.clientX - frame.left, event.clientY - frame.top];
    return this.at({ x: viewX + this.box.scrollLeft, y: viewY + this.box.scrollTop, viewX, viewY });
  }

  // Scrolls so that a place of the drawing is in sight.
  reveal(y) {
    const { scrollTop, clientHeight } = this.box;
    if (y < scrollTop + 40 || y > scrollTop + clientHeight - 20) this.box.scrollTop = y - clientHeight / 2;
  }
}
