// Compiles one TypeScript module at a time, with the settings of .swcrc, as the tests themselves are compiled.
import { transformFile } from '@swc/core';
import { fileURLToPath } from 'node:url';

export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  const { code } = await transformFile(fileURLToPath(url), { sourceMaps: false, swcrc: true });
  return { format: 'module', shortCircuit: true, source: code };
}
