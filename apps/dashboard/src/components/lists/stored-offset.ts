/** Restores the scroll offset of a long list for each entry of the browser's history. */
import { useLayoutEffect, type RefObject } from 'react';
import { useLocation } from 'react-router';

const offsets = new Map<string, number>();

/** `isThere`: whether the box and its rows are laid out. */
export function useStoredOffset(box: RefObject<HTMLElement | null>, isThere: boolean): void {
  const { key } = useLocation();
  useLayoutEffect(() => {
    const element = box.current;
    if (!isThere || element === null) return undefined;
    element.scrollTo({ top: offsets.get(key) ?? 0 });
    const note = (): void => void offsets.set(key, element.scrollTop);
    element.addEventListener('scroll', note, { passive: true });
    return () => element.removeEventListener('scroll', note);
  }, [box, key, isThere]);
}
