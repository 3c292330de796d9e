/** The drawing of the dashboard for the guide, and whether the pictures that are there show what the dashboard has. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dashboardPicture, type DashboardPanel } from './dashboard-picture.ts';
import { GUIDE, pageText, ROOT } from './documents.ts';

const panel = (type: string, unit: string, title = 'Title'): DashboardPanel => ({
  type,
  title,
  gridPos: { x: 0, y: 3, w: 8, h: 8 },
  fieldConfig: { defaults: { unit } },
});

const drawn = (one: DashboardPanel, ...values: number[]): string =>
  dashboardPicture([one], () =>
    values.length === 0 ? [] : [{ name: 'a<b', points: values.map((value, at) => [at, value] as const) }],
  );

describe('a picture of the dashboard', () => {
  it.each([
    ['s', 0.0123, '12 ms'],
    ['s', 90, '1.5 min'],
    ['percentunit', 0.25, '25 %'],
    ['bytes', 3 * 1_048_576, '3 MB'],
    ['reqps', 12, '12/s'],
    ['short', 1_500, '1.5 K'],
  ])('shows a number of unit %s: %d is %s', (unit, value, shown) => {
    expect(drawn(panel('stat', unit), value)).toContain(`>${shown}</text>`);
  });

  it('draws a line for a series, with its name, and says where there is none', () => {
    expect(drawn(panel('timeseries', 'short'), 0, 10, 5)).toMatch(/<polyline points="58,.*a&lt;b</s);
    expect(drawn(panel('timeseries', 'short'))).toContain('>no data<');
  });

  it('needs no style, which the content policy of the guide would refuse', () => {
    const all = ['row', 'stat', 'table', 'timeseries'].map((type) => drawn(panel(type, 's'), 1, 2)).join('');
    expect(all).not.toMatch(/style=|<style|<script|href=/);
  });
});

describe('the pictures of the guide', () => {
  const { panels } = JSON.parse(readFileSync(join(ROOT, 'apps/deploy/monitoring/dashboard.json'), 'utf8')) as {
    panels: DashboardPanel[];
  };
  const names = [...pageText('how-to/monitor.md').matchAll(/!\[.+\]\(\.\/(dashboard-\w+\.svg)\)/g)].map(
    ([, name]) => name ?? '',
  );
  const texts = names.map((name) => readFileSync(join(GUIDE, 'how-to', name), 'utf8'));

  it('show every panel of the dashboard, and nothing that it has no more', () => {
    const titles = texts.flatMap((text) =>
      [...text.matchAll(/font-weight="bold"[^>]*>([^<]+)</g)].map(([, title]) => title),
    );
    expect(titles.sort()).toEqual(panels.map(({ title }) => title).sort());
  });

  it('show figures in most of them', () => {
    const empty = texts.join('').match(/>no data</g)?.length ?? 0;
    expect(empty).toBeLessThan(panels.length / 4);
  });
});
