/**
 * `millwright filter test`: would this payload start the automation? The service's own engine, without a service; a
 * stored delivery is tested where it is. spec: Webhook management (Test filter); contract §7.
 */
import { extname } from 'node:path';
import { parseDocument } from 'yaml';
import type { FilterTestResult } from '#client';
import { parseJsonBody } from '#deliveries';
import { compileFilter, type CompiledFilter, type FilterVerdict } from '#filters';
import { connect, SERVER_OPTIONS } from '../connection/api.ts';
import { CommandError, group, UsageError, verb, type CliIo } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { readInput, toText } from '../terminal/input.ts';
import { findFactory } from '../connection/name-resolution.ts';
import { FORMAT_OPTION, outputFor, type Output } from '../terminal/output.ts';

const test = verb({
  name: 'filter test',
  arguments: 'FILTER_FILE [PAYLOAD_FILE]',
  summary: 'Says whether a payload satisfies a payload filter; needs no server, except for a stored delivery.',
  details: [
    'FILTER_FILE holds the filter alone, as JSON or (.yaml, .yml) as YAML. PAYLOAD_FILE holds the body as it ' +
      'would be delivered; - reads stdin.',
    'With --entry, the payload is the one that the server has stored of that delivery.',
    'Ends with 0 for "Would trigger" and 1 for "Would not trigger".',
  ],
  positionals: [1, 2],
  options: {
    ...SERVER_OPTIONS,
    format: FORMAT_OPTION,
    entry: {
      type: 'string',
      value: 'ENTRY',
      help: 'log entry of an accepted delivery, as `millwright deliveries` shows it (ENTRY)',
    },
    factory: { type: 'string', value: 'FACTORY', help: 'factory of that delivery (default: the only one there is)' },
  },
  async run({ values, positionals: [filterFile = '', payloadFile] }, io) {
    const output = await outputFor(io, values.format);
    if ((values.entry === undefined) === (payloadFile === undefined))
      throw new UsageError('give either PAYLOAD_FILE or --entry');
    if (filterFile === '-' && payloadFile === '-')
      throw new UsageError('stdin cannot be both the filter and the payload');
    const filter = readFilter(filterFile, toText(await readInput(filterFile, io, 'give a file'), 'the filter'));
    const result =
      values.entry === undefined
        ? await testHere(filter, payloadFile ?? '', io, output)
        : await testThere(filter, values.entry, values, io);
    output.result(result, () => printResult(output, result));
    return result.payload_check.passed ? EXIT.ok : EXIT.problems;
  },
});

/** The verb `filter`. */
export const filter = group('filter', { test });

/** What both ways of testing answer. */
type Result = Pick<FilterTestResult, 'result' | 'payload_check'>;

async function testHere(filter: unknown, payloadFile: string, io: CliIo, output: Output): Promise<Result> {
  const engine = compiled(filter, output);
  const payload = parseJsonBody(await readInput(payloadFile, io, 'give a file'));
  if (!payload.ok)
    throw new CommandError('the payload is not valid JSON: as a delivery it would be answered 400', EXIT.problems);
  return toResult(engine.explain(payload.value));
}

async function testThere(
  filter: unknown,
  entry: string,
  { factory, server, 'key-file': keyFile }: { factory?: string; server?: string; 'key-file'?: string },
  io: CliIo,
): Promise<Result> {
  const api = await connect({ server, keyFile }, io);
  const { uid } = await findFactory(api, factory);
  return api.factories.testFilter(uid, { filter: filter ?? {}, entry_id: entry });
}

function readFilter(file: string, text: string): unknown {
  const isYaml = ['.yaml', '.yml'].includes(extname(file).toLowerCase());
  if (!isYaml) return parsedJson(text);
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'error', version: '1.2' });
  if (document.errors.length > 0)
    throw new CommandError(
      'the filter is not valid YAML',
      EXIT.problems,
      document.errors.map(({ message }) => message),
    );
  return document.toJS({ maxAliasCount: 0 }) as unknown;
}

function parsedJson(text: string): unknown {
  const value = jsonOf(text);
  if (isDeeperThan(value, LOOKED_THROUGH_LEVELS_MAX)) return value; // which no filter is
  // JSON is YAML, whose parser tells what that of JSON passes over: of a key that is there twice, the last one counts.
  const { errors } = parseDocument(text, { prettyErrors: true, logLevel: 'error', version: '1.2', schema: 'json' });
  const repeated = errors.filter(({ code }) => code === 'DUPLICATE_KEY');
  if (repeated.length === 0) return value;
  const places = repeated.map(({ linePos: [{ line, col }] = [{ line: 1, col: 1 }] }) => `line ${line}, column ${col}`);
  throw new CommandError('the filter has a key twice, of which only one would count', EXIT.problems, places);
}

/** Far beyond what a filter may have: the parser of YAML calls itself for each level. */
const LOOKED_THROUGH_LEVELS_MAX = 100;

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new CommandError('the filter is not valid JSON (name the file .yaml when it is YAML)', EXIT.problems);
  }
}

function compiled(filter: unknown, output: Output): CompiledFilter {
  const compilation = compileFilter(filter ?? undefined);
  if (!compilation.ok) {
    throw new CommandError(
      'the filter cannot be used',
      EXIT.problems,
      compilation.problems.map(
        ({ pointer, message, rule }) => `${pointer === '' ? '' : `${pointer}: `}${message} [${rule}]`,
      ),
    );
  }
  for (const { pointer, message, rule } of compilation.warnings)
    output.note(`warning: ${pointer === '' ? '' : `${pointer}: `}${message} [${rule}]`);
  return compilation.filter;
}

function toResult(verdict: FilterVerdict): Result {
  if (verdict.passed) return { result: 'Would trigger', payload_check: { passed: true } };
  return {
    result: 'Would not trigger',
    payload_check: { passed: false, failed_pointer: verdict.failedPointer, operator: verdict.operator },
  };
}

function printResult(output: Output, { result, payload_check: check }: Result): void {
  output.line(result, check.passed ? 'green' : 'yellow');
  if (!check.passed)
    output.line(
      `  failed at ${check.failed_pointer === '' ? 'the root' : (check.failed_pointer ?? '?')} ` +
        `(${check.operator ?? '?'})`,
    );
}
