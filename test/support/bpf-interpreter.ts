/** Runs a filter of system calls as the kernel does (classic BPF over `struct seccomp_data`), from its very bytes. */

/** What the kernel shows a filter of one call. */
export interface SeccompData {
  number: number;
  architecture: number;
  arguments?: readonly bigint[];
}

/** The filter's answer, as in `SECCOMP_RET_…`. Throws where the kernel would refuse the program. */
export function runFilter(filter: Uint8Array, data: SeccompData): number {
  const program = new DataView(filter.buffer, filter.byteOffset, filter.byteLength);
  const shown = shownTo(data);
  let accumulator = 0;
  for (let at = 0, steps = 0; ; at += 1) {
    if ((steps += 1) > 4_096 || (at + 1) * 8 > program.byteLength) throw new Error('the program leads nowhere');
    const [code, value] = [program.getUint16(at * 8, true), program.getUint32(at * 8 + 4, true)];
    const jump = (holds: boolean): number => program.getUint8(at * 8 + (holds ? 2 : 3));
    if (code === 0x20 && (value % 4 !== 0 || value > 60)) throw new Error('a load outside of the data');
    if (code === 0x06) return value;
    else if (code === 0x20) accumulator = shown.getUint32(value, true);
    else if (code === 0x54) accumulator = (accumulator & value) >>> 0;
    else if (code === 0x05) at += value;
    else if (code === 0x15) at += jump(accumulator === value);
    else if (code === 0x25) at += jump(accumulator > value);
    else if (code === 0x35) at += jump(accumulator >= value);
    else throw new Error(`no instruction has the code ${code}`);
  }
}

function shownTo({ number, architecture, arguments: given = [] }: SeccompData): DataView {
  const shown = new DataView(new ArrayBuffer(64));
  shown.setUint32(0, number, true);
  shown.setUint32(4, architecture, true);
  given.forEach((argument, index) => shown.setBigUint64(16 + index * 8, argument, true));
  return shown;
}
