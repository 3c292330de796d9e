/**
 * The filter of system calls as a program for the kernel (classic BPF, seccomp(2)): assembled from lists and rules.
 * contract §10.2.
 */
import { ALLOWED_CALLS, callNumber, REFUSED_CALLS, type SeccompArchitecture } from './seccomp-calls.ts';
import { CALL_RULES, ERRNO, type ArgumentTest, type CallRule } from './seccomp-rules.ts';

/** `struct sock_filter`: where a conditional jump goes counts from the next instruction. */
export interface SockFilter {
  code: number;
  jumpTrue: number;
  jumpFalse: number;
  value: number;
}

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64: a 32-bit program on the same kernel has another one. */
const AUDIT_ARCHITECTURES: Readonly<Record<SeccompArchitecture, number>> = { x64: 0xc0_00_00_3e, arm64: 0xc0_00_00_b7 };
/** Numbers from here on are x32's, an ABI of its own under the name of x86-64. */
const X32_CALLS = 0x40_00_00_00;

/** What of `struct seccomp_data` is read, as offsets; both architectures are little-endian. */
const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
const ARGUMENTS_AT = 16;

/** Instructions of classic BPF: load a word, mask it, jump, return. */
export const BPF = { LOAD: 0x20, AND: 0x54, JUMP: 0x05, EQUAL: 0x15, GREATER: 0x25, AT_LEAST: 0x35, RETURN: 0x06 };
/** What a filter answers (SECCOMP_RET_…). */
export const SECCOMP = { KILL_PROCESS: 0x80_00_00_00, ERRNO: 0x00_05_00_00, ALLOW: 0x7f_ff_00_00 };

type Code = readonly SockFilter[];

/** Calls from this number on, up to the next segment's, are answered so. */
interface Segment {
  from: number;
  code: Code;
}

/** Whether there is a filter for a processor, named as Node names it. */
export function isSeccompArchitecture(name: string): name is SeccompArchitecture {
  return name === 'x64' || name === 'arm64';
}

/**
 * The filter of every sandbox. Another architecture's program is killed; an unknown call is one that this kernel does
 * not have.
 */
export function seccompProgram(architecture: SeccompArchitecture): SockFilter[] {
  const x32 = architecture === 'x64' ? [branch(BPF.AT_LEAST, X32_CALLS, 0, 1), answer(errno(ERRNO.ENOSYS))] : [];
  return [
    load(ARCHITECTURE_AT),
    branch(BPF.EQUAL, AUDIT_ARCHITECTURES[architecture], 1, 0),
    answer(SECCOMP.KILL_PROCESS),
    load(NUMBER_AT),
    ...x32,
    ...search(segments(architecture)),
  ];
}

/** The bytes that the kernel takes, little-endian. */
export function toFilterBytes(program: readonly SockFilter[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach(({ code, jumpTrue, jumpFalse, value }, index) => {
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 2, jumpTrue);
    bytes.setUint8(index * 8 + 3, jumpFalse);
    bytes.setUint32(index * 8 + 4, value, true);
  });
  return new Uint8Array(bytes.buffer);
}

/** Every number has one answer: neighbours that share theirs are one segment. */
function segments(architecture: SeccompArchitecture): Segment[] {
  const unknown = [answer(errno(ERRNO.ENOSYS))];
  const answers = new Map<number, Code>();
  const put = (call: string, code: Code): void => {
    const number = callNumber(call, architecture);
    if (number !== undefined) answers.set(number, code);
  };
  for (const call of ALLOWED_CALLS) put(call, ALLOWED);
  for (const call of REFUSED_CALLS) put(call, REFUSED);
  for (const rule of CALL_RULES) put(rule.call, codeOf(rule));
  const all: Segment[] = [];
  for (let number = 0; number <= Math.max(...answers.keys()) + 1; number += 1) {
    const code = answers.get(number) ?? unknown;
    if (all.at(-1)?.code !== code) all.push({ from: number, code });
  }
  return all;
}

/** Halves the segments until one is left. */
function search(all: readonly Segment[]): Code {
  const [first, ...rest] = all;
  if (first === undefined || rest.length === 0) return first?.code ?? [];
  const half = Math.ceil(all.length / 2);
  const [lower, upper] = [search(all.slice(0, half)), search(all.slice(half))];
  // A conditional jump reaches 255 instructions, a plain one as far as it takes.
  return [branch(BPF.AT_LEAST, all[half]?.from ?? 0, 0, 1), jump(lower.length), ...lower, ...upper];
}

function codeOf({ allow, otherwise }: CallRule): Code {
  return [...allow.flatMap(clause), answer(errno(otherwise))];
}

/** Allows where all tests hold, and goes on behind itself where one does not. */
function clause(tests: readonly ArgumentTest[]): Code {
  return tests.reduceRight<Code>((rest, test) => [...testCode(test, rest.length), ...rest], ALLOWED);
}

/** Goes on where the test holds, and jumps over `skipped` instructions where it does not. */
function testCode(test: ArgumentTest, skipped: number): Code {
  const low = load(ARGUMENTS_AT + test.argument * 8);
  if ('not' in test) return [low, branch(BPF.EQUAL, test.not, skipped, 0)];
  if ('atMost' in test) {
    const high = load(ARGUMENTS_AT + test.argument * 8 + 4);
    return [high, branch(BPF.EQUAL, 0, 0, skipped + 2), low, branch(BPF.GREATER, test.atMost, skipped, 0)];
  }
  const masked = test.mask === undefined ? [] : [{ ...NO_JUMP, code: BPF.AND, value: test.mask }];
  return [low, ...masked, branch(BPF.EQUAL, test.equals, 0, skipped)];
}

const NO_JUMP = { jumpTrue: 0, jumpFalse: 0 };

function load(offset: number): SockFilter {
  return { ...NO_JUMP, code: BPF.LOAD, value: offset };
}

function branch(code: number, value: number, jumpTrue: number, jumpFalse: number): SockFilter {
  return { code, jumpTrue, jumpFalse, value };
}

function jump(over: number): SockFilter {
  return { ...NO_JUMP, code: BPF.JUMP, value: over };
}

function answer(value: number): SockFilter {
  return { ...NO_JUMP, code: BPF.RETURN, value };
}

function errno(number: number): number {
  return SECCOMP.ERRNO + number;
}

/** One object each: segments are told apart by them. */
const ALLOWED: Code = [answer(SECCOMP.ALLOW)];
const REFUSED: Code = [answer(errno(ERRNO.EPERM))];
