// Numbers as an English text has them.

const whole = (value) => Math.round(value).toLocaleString("en");
const rate = (value) => (value >= 100 || value === 0 ? whole(value) : value.toFixed(1));
