// A scrollable drawing of which only the visible part is painted: a scrolling box, a spacer with the
// size of the drawing, and a sticky canvas with the size of the box.

class Sheet {
  // draw(context, area) draws the part `area` {x, y, width, height}, in coordinates of the drawing.
  // at(point) returns the focus at a point of the drawing.
  constructor(box, draw, at) {
    this.box = box;
    this.draw = draw;
    this.at = at;
    this.canvas = make("canvas", "sheet");
    this.context = this.canvas.getContext("2d");
    this.spacer = make("div", "spacer", this.canvas);
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
    const [pixelWidth, pixelHeight] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== pixelWidth || this.canvas.height !== pixelHeight) {
      this.canvas.width = pixelWidth;
      this.canvas.height = pixelHeight;
      this.canvas.style.width = width + "px";
      this.canvas.style.height = height + "px";
    }
    this.context.setTransform(ratio, 0, 0, ratio, -x * ratio, -y * ratio);
    this.context.clearRect(x, y, width, height);
    this.draw(this.context, { x, y, width, height });
  }

  // The focus under the pointer.
  under(event) {
    const frame = this.canvas.getBoundingClientRect();
    const [viewX, viewY] = [event.clientX - frame.left, event.clientY - frame.top];
    return this.at({ x: viewX + this.box.scrollLeft, y: viewY + this.box.scrollTop, viewX, viewY });
  }

  // Scrolls so that the vertical position y of the drawing is visible.
  reveal(y) {
    const { scrollTop, clientHeight } = this.box;
    if (y < scrollTop + 40 || y > scrollTop + clientHeight - 20) this.box.scrollTop = y - clientHeight / 2;
  }
}
