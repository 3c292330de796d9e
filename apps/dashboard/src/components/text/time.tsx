/** A time in the viewer's zone, with UTC on hover. */
import { useEffect, useState } from 'react';

const ABSOLUTE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });
const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

interface TimeProps {
  /** RFC 3339; null or undefined: never. */
  at: string | null | undefined;
  /** Said instead of a time that is not there. */
  never?: string;
  /** `ago`: how long ago, kept current; with the time itself on hover. */
  as?: 'time' | 'ago';
}

export function Time({ at, never = 'never', as = 'time' }: TimeProps) {
  useTick(as === 'ago' && at !== null && at !== undefined);
  if (at === null || at === undefined) return <>{never}</>;
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <>{at}</>;
  const utc = utcText(date);
  return (
    <time dateTime={at} title={as === 'ago' ? `${ABSOLUTE.format(date)}\n${utc}` : utc}>
      {as === 'ago' ? ago(date) : ABSOLUTE.format(date)}
    </time>
  );
}

/** For places without a hover, as the choices of a list: in the viewer's zone and in UTC. */
export function timeText(at: string): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? at : `${ABSOLUTE.format(date)} (${utcText(date)})`;
}

function utcText(date: Date): string {
  return `${date
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, '')} UTC`;
}

function ago(date: Date): string {
  const seconds = Math.round((date.getTime() - Date.now()) / 1000);
  const [unit, length] = STEPS.find(([, step]) => Math.abs(seconds) >= step) ?? (['second', 1] as const);
  return RELATIVE.format(Math.round(seconds / length), unit);
}

function useTick(isTicking: boolean): void {
  const [, tick] = useState(0);
  useEffect(() => {
    if (!isTicking) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), 10_000);
    return () => clearInterval(timer);
  }, [isTicking]);
}

/** A duration for people: `320 ms`, `4.1 s`, `3 min 20 s`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}

/** `512 bytes`, `4.0 KiB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1_024) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
