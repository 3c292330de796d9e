/** Notices within one process, and over a line that loses, repeats and refuses them. */
import { Notices, TOPICS, type NoticeTransport, type Topic } from './notices.ts';

let sent: string[];
let arrive: (topic: Topic, key: string) => void;
let anything: () => void;
let heard: string[];
let faults: unknown[];
let notices: Notices;

const line: NoticeTransport = {
  start: (hear, all) => void ([arrive, anything] = [hear, all]),
  send: (topic, key) => void sent.push(`${topic} ${key}`),
  stop: async () => undefined,
};

beforeEach(() => {
  [sent, heard, faults] = [[], [], []];
  notices = new Notices((fault) => void faults.push(fault), line);
  for (const topic of TOPICS) notices.subscribe(topic, (key) => void heard.push(`${topic} ${key ?? '*'}`));
  notices.start();
});

it('tells this process at once, and the others', () => {
  notices.publish('run', 'r1');
  notices.publish('serving');
  expect(heard).toEqual(['run r1', 'serving *']);
  expect(sent).toEqual(['run r1', 'serving ']);
});

it('hears what others tell, and that anything may have changed', () => {
  arrive('factory', 'fac_1');
  arrive('runs', '');
  anything();
  expect(heard).toEqual(['factory fac_1', 'runs *', ...TOPICS.map((topic) => `${topic} *`)]);
  expect(sent).toEqual([]); // nobody repeats what he hears
});

it('keeps the fault of one who hears from who tells, and from the others who hear', () => {
  notices.subscribe('runs', () => {
    throw new Error('broken');
  });
  notices.subscribe('runs', () => void heard.push('behind'));
  notices.publish('runs');
  expect(heard).toEqual(['runs *', 'behind']);
  expect(faults).toEqual([new Error('broken')]);
});

it('is for this process alone without a line', async () => {
  const alone = new Notices((fault) => void faults.push(fault));
  alone.subscribe('runs', () => void heard.push('alone'));
  alone.start();
  alone.publish('runs');
  await alone.stop();
  expect([heard, sent]).toEqual([['alone'], []]);
});
