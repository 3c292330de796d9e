/** The `millwright` command: finds the verb and loads only what that verb needs. contract 11. */
export type Verb = (argv: string[]) => Promise<number>;

const EXIT_USAGE = 64;

/** Verbs by name, each loaded when it is called: `validate` must not wait for a server's code. */
const VERBS: Readonly<Record<string, () => Promise<Verb>>> = {
  start: async () => (await import('../server/main.ts')).serve,
  validate: async () => {
    const { validate } = await import('./validate.ts');
    return (argv) => validate(argv, { stdout: process.stdout, stderr: process.stderr, cwd: process.cwd() });
  },
};

/** Runs one verb and answers its exit code. */
export async function main(argv: string[]): Promise<number> {
  const [name = '', ...rest] = argv;
  const load = VERBS[name];
  if (load !== undefined) return (await load())(rest);
  process.stderr.write(`usage: millwright ${Object.keys(VERBS).join('|')} …\n`);
  return EXIT_USAGE;
}
