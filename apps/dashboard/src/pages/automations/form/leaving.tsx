/** Asks before leaving an automation with unsaved changes. */
import { UnsavedChangesDialog } from '../../../components/dialogs/leave-anyway.tsx';

export function LeaveUnsaved({ isLoss }: { isLoss: () => boolean }) {
  return (
    <UnsavedChangesDialog title="Leave without saving?" isLoss={isLoss}>
      What you changed here is not saved and would be lost.
    </UnsavedChangesDialog>
  );
}
