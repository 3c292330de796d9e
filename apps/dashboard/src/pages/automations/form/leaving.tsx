/** Asks before an automation with unsaved changes is left. */
import { LeaveAnyway } from '../../../components/dialogs/leave-anyway.tsx';

export function LeaveUnsaved({ isLoss }: { isLoss: () => boolean }) {
  return (
    <LeaveAnyway title="Leave without saving?" isLoss={isLoss}>
      What you changed here is not saved and would be lost.
    </LeaveAnyway>
  );
}
