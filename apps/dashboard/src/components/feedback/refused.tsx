/** Why an action was refused. */
import type { ReactNode } from 'react';
import { Dialog } from '../dialogs/dialog.tsx';
import { ProblemAlert } from './problem-alert.tsx';

interface RefusedProps {
  title: string;
  /** Null: it was not refused. */
  error: unknown;
  onClose: () => void;
  /** Instead of the server's words. */
  children?: ReactNode;
}

export function Refused({ title, error, onClose, children }: RefusedProps) {
  if (error === null || error === undefined) return null;
  return (
    <Dialog title={title} onClose={onClose} size="lg">
      {children ?? <ProblemAlert error={error} />}
    </Dialog>
  );
}
