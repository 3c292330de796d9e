/** `millwright lsp`: what the command knows of definition files, in an editor. contract §11.11 (Language server). */
import { verb } from '../command.ts';
import { guideOf } from '../reports/rule-page.ts';

/** The verb `lsp`. */
export const lsp = verb({
  name: 'lsp',
  summary: 'Serves an editor by the Language Server Protocol, on standard input and output.',
  details: [
    'An editor starts it, and it ends with the editor. Problems are those of validate for the whole repository, with',
    'what is typed in place of what is saved; beside them fixes, layout, explanations and words to choose from. It',
    'reads below the folders that the editor has open, writes nothing, and executes nothing.',
    'Where MILLWRIGHT_SERVER names a service, problems link to the pages of its guide; nothing is asked of it.',
  ],
  options: {
    stdio: { type: 'boolean', help: 'as many editors say: standard input and output, which it is in any case' },
    clientProcessId: { type: 'string', value: 'PID', help: 'process of the editor, with which it ends' },
  },
  async run(_asked, io) {
    // What speaks to editors is loaded for them only
    const { serveLanguage } = await import('../language-server/server.ts');
    return serveLanguage(io, guideOf(io.environment));
  },
});
