/**
 * How a tree of files becomes definitions and problems; every file is read, whatever is wrong with the others. contract
 * §8.
 */
import { readAutomation } from './automations.ts';
import { readContents, refuseEntry, refuseLink, saysDefinition } from './trees/contents.ts';
import { DEFAULT_FACTORY, readEnvironment, readFactory } from './factories.ts';
import { readOnce, type FileReading } from './file-reading.ts';
import { classifyPath, type PathKind } from './definition-paths.ts';
import {
  addProblem,
  byCodeUnits,
  FILE_PROBLEMS_MAX,
  firstProblems,
  hasErrors,
  noProblems,
  problemAt,
  sortedProblems,
  TREE_PROBLEMS_MAX,
  type FoundProblems,
} from './rules/problems.ts';
import { addFile, skillFiles, skillBoundProblem, type SkillFolder } from './trees/skill-folders.ts';
import {
  automationTwice,
  automationsTwice,
  badName,
  hostedGroup,
  notAFactory,
  skillMissing,
  tooManyFiles,
  wrongPlace,
} from './trees/tree-problems.ts';
import { NO_FAULTS, type DocumentFaults } from './yaml/faults.ts';
import { FILE_START, type SourceText } from './yaml/source-text.ts';
import type {
  FilePositions,
  Problem,
  ReadFile,
  Reading,
  SkillDefinition,
  SkillFile,
  TreeFile,
  WrittenDefinitions,
} from './types.ts';
import { readWebhook } from './webhooks.ts';

/** Definition files of one factory: bounds the time of a pass. Other files of skills are not counted. */
export const DEFINITION_FILES_MAX = 2000;

interface ReadLimits {
  definitionFilesMax: number;
}

/**
 * Reads a complete tree, relative to the factory's root. Total for any input: what is wrong becomes a problem, sorted
 * by path, line and column. A file with an error of its own is in `brokenPaths` and its definition is left out.
 * contract §8.
 */
export function readDefinitions(
  files: readonly TreeFile[],
  limits: ReadLimits = { definitionFilesMax: DEFINITION_FILES_MAX },
): Reading {
  const steps = readingSteps(files, limits);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/**
 * The same file by file: stops before each, so that a caller with other work can do that in between. Files that the
 * `earlier` reading of the factory knows are not read again.
 */
export function* readingSteps(
  files: readonly TreeFile[],
  limits: ReadLimits = { definitionFilesMax: DEFINITION_FILES_MAX },
  earlier?: Reading,
): Generator<void, Reading, void> {
  const tree = newTree(earlier);
  const placed = yield* placedFiles(files);
  tree.automationsTwice = automationsTwice(placed);
  if (placed.length === 0) add(tree, notAFactory());
  let definitionFiles = 0;
  for (const { file, place } of placed) {
    yield;
    definitionFiles += place.kind === 'skill-file' || place.kind === 'hosted' ? 0 : 1;
    if (definitionFiles > limits.definitionFilesMax) refuseSurplus(tree, file, definitionFiles, limits);
    else readFile(tree, file, place);
  }
  const skills = finishSkills(tree);
  return {
    definitions: { ...tree.definitions, skills },
    unsound: { ...tree.unsound, skills: [] },
    problems: firstProblems(sortedProblems(tree.problems.listed), TREE_PROBLEMS_MAX),
    brokenPaths: [...tree.broken].sort(byCodeUnits),
    positions: tree.positions,
    faults: tree.faults,
    texts: tree.texts,
    readFiles: tree.readFiles,
    skillFiles: new Map(
      skills
        .flatMap(({ name, path }): [string, readonly SkillFile[]][] => [[path, tree.skills.get(name)?.files ?? []]])
        .filter(([, files]) => files.length > 0),
    ),
  };
}

type ReadSoFar = Omit<WrittenDefinitions, 'skills'>;

interface Tree {
  definitions: ReadSoFar;
  unsound: ReadSoFar;
  problems: FoundProblems;
  broken: Set<string>;
  positions: Map<string, FilePositions>;
  faults: Map<string, DocumentFaults>;
  texts: Map<string, string>;
  readFiles: Map<string, ReadFile>;
  earlier: ReadonlyMap<string, ReadFile>;
  skills: Map<string, SkillFolder>;
  hostedGroups: Set<string>;
  /** Names of automations that two files say. */
  automationsTwice: ReadonlySet<string>;
}

function newTree(earlier: Reading | undefined): Tree {
  return {
    definitions: nothingRead(),
    unsound: nothingRead(),
    problems: noProblems(),
    broken: new Set(),
    positions: new Map(),
    faults: new Map(),
    texts: new Map(),
    readFiles: new Map(),
    earlier: earlier?.readFiles ?? new Map(),
    skills: new Map(),
    hostedGroups: new Set(),
    automationsTwice: new Set(),
  };
}

function nothingRead(): ReadSoFar {
  return { factory: DEFAULT_FACTORY, webhooks: [], automations: [], environments: [] };
}

/** Files that are placed at a stretch: a tree can have a hundred thousand. */
const PLACED_AT_ONCE = 2_000;

function* placedFiles(files: readonly TreeFile[]): Generator<void, { file: TreeFile; place: PathKind }[], void> {
  const placed: { file: TreeFile; place: PathKind }[] = [];
  for (const [index, file] of files.entries()) {
    if (index % PLACED_AT_ONCE === PLACED_AT_ONCE - 1) yield;
    const place = classifyPath(file.path);
    const isLeftOut = place.kind === 'ignored' || (place.kind === 'nearby' && !saysDefinition(file, place.definition));
    if (!isLeftOut) placed.push({ file, place });
  }
  return placed.sort((left, right) => byCodeUnits(left.file.path, right.file.path));
}

function readFile(tree: Tree, file: TreeFile, place: PathKind): void {
  switch (place.kind) {
    case 'ignored':
      return;
    case 'hosted':
      return warnHosted(tree, file, place.group);
    case 'misplaced':
      return breakFile(tree, refuseLink(file) ?? wrongPlace(file.path, place.meant ?? place.expected));
    case 'nearby':
      return breakFile(tree, wrongPlace(file.path, place.meant));
    case 'badly-named':
      return breakFile(tree, badName(file.path, place.name));
    case 'skill-file':
      return addSkillFile(tree, file, place.name);
    default:
      return readDefinition(tree, file, place);
  }
}

type DefinitionPlace = Extract<PathKind, { kind: 'factory' | 'webhook' | 'automation' | 'environment' | 'skill' }>;

function readDefinition(tree: Tree, file: TreeFile, place: DefinitionPlace): void {
  const contents = readContents(file);
  if (!contents.ok) {
    if (place.kind === 'skill') skillFolder(tree, place.name).path = file.path;
    return breakFile(tree, contents.problem);
  }
  const { source } = contents;
  if (place.kind === 'webhook' || place.kind === 'automation') tree.texts.set(source.path, source.text);
  switch (place.kind) {
    case 'factory':
      return addReading(
        tree,
        source,
        () => readFactory(source),
        (to, factory) => (to.factory = factory),
      );
    case 'webhook':
      return addReading(
        tree,
        source,
        () => readWebhook(place.name, source),
        (to, webhook) => to.webhooks.push(webhook),
      );
    case 'automation':
      if (tree.automationsTwice.has(place.name)) return breakFile(tree, automationTwice(file.path, place.name));
      return addReading(
        tree,
        source,
        () => readAutomation(place.name, source),
        (to, automation) => to.automations.push(automation),
      );
    case 'environment':
      return addReading(
        tree,
        source,
        () => readEnvironment(place.name, source),
        (to, environment) => to.environments.push(environment),
      );
    case 'skill':
      return addSkill(tree, source, place.name);
  }
}

function addReading<Definition>(
  tree: Tree,
  source: SourceText,
  read: () => FileReading<Definition>,
  addTo: (to: ReadSoFar, definition: Definition) => void,
): void {
  const reading = readOnce(tree, source, read);
  tree.positions.set(source.path, reading.positions);
  if (reading.faults !== NO_FAULTS) tree.faults.set(source.path, reading.faults);
  for (const problem of firstProblems(reading.problems, FILE_PROBLEMS_MAX)) add(tree, problem);
  const isSound = !hasErrors(reading.problems) && reading.definition !== undefined;
  if (!isSound) tree.broken.add(source.path);
  if (reading.definition !== undefined) addTo(isSound ? tree.definitions : tree.unsound, reading.definition);
}

function addSkill(tree: Tree, source: SourceText, name: string): void {
  const folder = skillFolder(tree, name);
  folder.path = source.path;
  if (source.text.trim() === '')
    return breakFile(
      tree,
      problemAt(source.path, FILE_START, 'empty-prompt', 'the skill is empty; write what the agent shall know'),
    );
  folder.text = source.text;
}

function addSkillFile(tree: Tree, file: TreeFile, name: string): void {
  addFile(skillFolder(tree, name), name, file);
  const obstacle = refuseEntry(file);
  if (obstacle !== undefined) breakFile(tree, obstacle);
}

function skillFolder(tree: Tree, name: string): SkillFolder {
  const folder = tree.skills.get(name) ?? { files: [], paths: [] };
  tree.skills.set(name, folder);
  return folder;
}

/**
 * A skill is whole or broken: any of its files in error breaks SKILL.md, so that nothing half of it is ever mounted.
 */
function finishSkills(tree: Tree): SkillDefinition[] {
  return [...tree.skills].flatMap(([name, folder]) => {
    const { path, text, paths } = folder;
    if (path === undefined) {
      breakFile(tree, skillMissing(paths[0] ?? `skills/${name}`, name));
      return [];
    }
    const tooLarge = skillBoundProblem(path, folder);
    if (tooLarge !== undefined) breakFile(tree, tooLarge);
    if (paths.some((file) => tree.broken.has(file))) tree.broken.add(path);
    return text === undefined || tree.broken.has(path) ? [] : [{ name, path, text, ...skillFiles(folder) }];
  });
}

function warnHosted(tree: Tree, file: TreeFile, group: string): void {
  if (tree.hostedGroups.has(group)) return;
  tree.hostedGroups.add(group);
  add(tree, hostedGroup(file.path, group));
}

function refuseSurplus(tree: Tree, file: TreeFile, count: number, { definitionFilesMax }: ReadLimits): void {
  tree.broken.add(file.path);
  if (count === definitionFilesMax + 1) add(tree, tooManyFiles(file.path, count, definitionFilesMax));
}

function add(tree: Tree, problem: Problem): void {
  addProblem(tree.problems, problem, TREE_PROBLEMS_MAX);
}

function breakFile(tree: Tree, problem: Problem): void {
  tree.broken.add(problem.path);
  add(tree, problem);
}
