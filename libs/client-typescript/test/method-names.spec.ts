/** Both client libraries have the same resources and methods, each in the spelling of its language. */
import { readdirSync, readFileSync } from 'node:fs';
import { Millwright } from '../src/index.ts';
import { Resource } from '../src/resource.ts';

const PYTHON = new URL('../../client-python/src/millwright/_sync/', import.meta.url);
/** The answer as it came is `withResponse()` or `asResponse()` of a call here, and a twin of the resource there. */
const PYTHON_ONLY = ['with_raw_response', 'with_streaming_response'];

/** Members of a Python class. */
interface PythonClass {
  /** Resources below it, by name: their class. */
  resources: Map<string, string>;
  methods: string[];
}

it('the same names in both', () => {
  const ours = namesOf(new Millwright({ baseURL: 'http://127.0.0.1:9', apiKey: 'k'.repeat(20) }));
  const theirs = pythonNames('Millwright', readPythonClasses());
  // 72 operations of the interface, and what is made of them.
  expect(ours.length).toBeGreaterThan(70);
  expect(theirs).toEqual(ours);
});

/** Dotted names of all methods of the resources, in snake case, sorted. */
function namesOf(holder: object, prefix = ''): string[] {
  const names = Object.entries(resourcesOf(holder)).flatMap(([name, resource]) => [
    ...Object.getOwnPropertyNames(Object.getPrototypeOf(resource))
      .filter((method) => method !== 'constructor')
      .map((method) => `${prefix}${snake(name)}.${snake(method)}`),
    ...namesOf(resource, `${prefix}${snake(name)}.`),
  ]);
  return names.toSorted();
}

function resourcesOf(holder: object): Record<string, Resource> {
  return Object.fromEntries(
    Object.entries(holder).filter((entry): entry is [string, Resource] => entry[1] instanceof Resource),
  );
}

function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function pythonNames(className: string, classes: ReadonlyMap<string, PythonClass>, prefix = ''): string[] {
  const names = [...(classes.get(className)?.resources ?? [])].flatMap(([name, below]) => {
    const methods = classes.get(below)?.methods;
    if (methods === undefined) throw new Error(`${prefix}${name}: there is no class ${below}`);
    return [
      ...methods.map((method) => `${prefix}${name}.${method}`),
      ...pythonNames(below, classes, `${prefix}${name}.`),
    ];
  });
  return names.toSorted();
}

/** The classes of client and resources, by name. */
function readPythonClasses(): Map<string, PythonClass> {
  const files = [
    'client.py',
    ...readdirSync(new URL('resources/', PYTHON), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.py'))
      .map((file) => `resources/${file}`),
  ];
  return new Map(files.flatMap((file) => classesIn(readFileSync(new URL(file, PYTHON), 'utf8'))));
}

/** Public members: a property is a resource, whose class it names; everything else that is defined is a method. */
function classesIn(source: string): [string, PythonClass][] {
  return source
    .split(/^(?=class )/m)
    .slice(1)
    .map((text): [string, PythonClass] => {
      const members = [
        ...text.matchAll(/^(?: {4}@(?<decorator>\w+)\n)? {4}def (?<name>[a-z]\w*)\([^]*?\)(?: -> (?<answer>\w+))?/gm),
      ]
        .map(({ groups = {} }) => groups)
        .filter(({ name = '' }) => !PYTHON_ONLY.includes(name));
      const isResource = ({ decorator }: Record<string, string | undefined>): boolean =>
        decorator === 'cached_property';
      return [
        /^class (\w+)/.exec(text)?.[1] ?? '',
        {
          resources: new Map(members.filter(isResource).map(({ name = '', answer = '' }) => [name, answer])),
          methods: members.filter((member) => !isResource(member)).map(({ name = '' }) => name),
        },
      ];
    });
}
