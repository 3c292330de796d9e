/** `millwright filter test`: would this payload start the automation? The service's own engine, without a service. spec: Test filter; contract 7. */
import { extname } from 'node:path';
import { parseDocument } from 'yaml';
import { parseJsonBody } from '#deliveries';
import { compileFilter, type CompiledFilter, type FilterVerdict } from '#filters';
import { Failure, group, UsageProblem, verb } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { readInput, toText } from './input.ts';
import { Output, readFormat } from './output.ts';

const test = verb({
  name: 'filter test',
  arguments: 'FILTER_FILE PAYLOAD_FILE',
  summary: 'Says whether a payload satisfies a payload filter; needs no server.',
  details: [
    'FILTER_FILE holds the filter alone, as JSON or (.yaml, .yml) as YAML. PAYLOAD_FILE holds the body as it would be delivered; - reads stdin.',
    'Ends with 0 for "Would trigger" and 1 for "Would not trigger".',
  ],
  positionals: [2, 2],
  options: { format: { type: 'string', value: 'text|json', help: 'text for people (default), or one JSON object' } },
  async run({ values: { format }, positionals: [filterFile = '', payloadFile = ''] }, io) {
    const output = new Output(io, readFormat(format));
    if (filterFile === '-' && payloadFile === '-') throw new UsageProblem('stdin cannot be both the filter and the payload');
    const filter = compiled(readFilter(filterFile, toText(await readInput(filterFile, io, 'give a file'), 'the filter')), output);
    const payload = parseJsonBody(await readInput(payloadFile, io, 'give a file'));
    if (!payload.ok) throw new Failure('the payload is not valid JSON: as a delivery it would be answered 400', EXIT.problems);
    const verdict = filter.explain(payload.value);
    output.result(toWire(verdict), () => printVerdict(output, verdict));
    return verdict.passed ? EXIT.ok : EXIT.problems;
  },
});

/** The verb `filter`. */
export const filter = group('filter', { test });

function readFilter(file: string, text: string): unknown {
  const isYaml = ['.yaml', '.yml'].includes(extname(file).toLowerCase());
  if (!isYaml) return parsedJson(text);
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'error', version: '1.2' });
  if (document.errors.length > 0) throw new Failure('the filter is not valid YAML', EXIT.problems, document.errors.map(({ message }) => message));
  return document.toJS({ maxAliasCount: 0 }) as unknown;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Failure('the filter is not valid JSON (name the file .yaml when it is YAML)', EXIT.problems);
  }
}

function compiled(filter: unknown, output: Output): CompiledFilter {
  const compilation = compileFilter(filter ?? undefined);
  if (!compilation.ok) {
    throw new Failure('the filter cannot be used', EXIT.problems, compilation.problems.map(({ pointer, message, rule }) => `${pointer === '' ? '' : `${pointer}: `}${message} [${rule}]`));
  }
  for (const { pointer, message, rule } of compilation.warnings) output.note(`warning: ${pointer === '' ? '' : `${pointer}: `}${message} [${rule}]`);
  return compilation.filter;
}

function toWire(verdict: FilterVerdict): Record<string, unknown> {
  if (verdict.passed) return { result: 'Would trigger', payload_check: { passed: true } };
  return { result: 'Would not trigger', payload_check: { passed: false, failed_pointer: verdict.failedPointer, operator: verdict.operator } };
}

function printVerdict(output: Output, verdict: FilterVerdict): void {
  if (verdict.passed) return output.line('Would trigger', 'green');
  output.line('Would not trigger', 'yellow');
  output.line(`  failed at ${verdict.failedPointer === '' ? 'the root' : verdict.failedPointer} (${verdict.operator})`);
}
