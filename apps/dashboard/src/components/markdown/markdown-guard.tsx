/** Error boundary: shows a fallback where rendering fails. */
import { Component, type ReactNode } from 'react';

interface GuardProps {
  fallback: ReactNode;
  children: ReactNode;
}

export class ErrorBoundary extends Component<GuardProps, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.fallback : this.props.children;
  }
}
