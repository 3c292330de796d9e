/** Shown instead of an action that the role does not permit. */
import { Empty } from '../lists/empty.tsx';

/** `children` says who can. */
export function RoleNeeded({ children }: { children: string }) {
  return <Empty title="Your role does not suffice">{children}</Empty>;
}
