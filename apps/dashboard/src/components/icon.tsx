/** The icons of the page, as line drawings; decorative, a label says the same. */
const PATHS = {
  sun:
    'M12 7a5 5 0 1 0 0 10 5 5 0 0 0 0-10ZM12 1v3M12 20v3M4.2 4.2l2.1 2.1M17.7 17.7l2.1 2.1M1 12h3M20 12h3M4.2 ' +
    '19.8l2.1-2.1M17.7 6.3l2.1-2.1',
  moon: 'M21 13A9 9 0 1 1 11 3a7 7 0 0 0 10 10Z',
  person: 'M12 12a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM3.5 21a8.5 8.5 0 0 1 17 0',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M4 12.5l5 5L20 6.5',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  plus: 'M12 5v14M5 12h14',
  download: 'M12 4v11m0 0 4-4m-4 4-4-4M4 20h16',
  close: 'M6 6l12 12M18 6 6 18',
  right: 'M9 5l7 7-7 7',
  down: 'M5 9l7 7 7-7',
} as const;

type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={2}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
