// Shifts the wall clock of a process by what the file FAULT_CLOCK_FILE says, in milliseconds, read again all the time:
// a clock that jumps while the process works.
// NODE_OPTIONS=--import=<this file>. Monotonic clocks stay as they are, as on a machine whose time is set.
import { readFileSync } from 'node:fs';

const file = process.env.FAULT_CLOCK_FILE;
const RealDate = Date;
const realNow = Date.now.bind(Date);
let shiftMs = 0;

function look() {
  try {
    shiftMs = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    // it is being written
  }
}

if (file !== undefined) {
  look();
  setInterval(look, 20).unref();
  class ShiftedDate extends RealDate {
    constructor(...args) {
      if (args.length === 0) super(realNow() + shiftMs);
      else super(...args);
    }
    static now() {
      return realNow() + shiftMs;
    }
  }
  globalThis.Date = ShiftedDate;
}
