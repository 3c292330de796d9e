/** Turns Markdown into elements, with HTML in it as the text that it is; only `markdown.tsx` loads it. */
import { Anchor, Blockquote, Code, Divider, List, Text } from '@mantine/core';
import ReactMarkdown, { type Components, type ExtraProps } from 'react-markdown';
import { withHiddenNamed } from '../text/hidden-characters.ts';

const HTTP = /^https?:\/\//i;

export default function Rendered({ text: given }: { text: string }) {
  const text = withHiddenNamed(given);
  return (
    <div style={{ overflowWrap: 'anywhere', unicodeBidi: 'isolate' }}>
      <ReactMarkdown components={componentsFor(text)} urlTransform={(url) => (HTTP.test(url) ? url : '')}>
        {text}
      </ReactMarkdown>
    </div>
  );
}

/** Headings of a message are none of the page. */
const heading = (size: 'sm' | 'md' | 'lg') =>
  function Heading({ children }: { children?: React.ReactNode }) {
    return (
      <Text fw={700} size={size} mt="sm" mb={4}>
        {children}
      </Text>
    );
  };

function componentsFor(text: string): Components {
  return {
    h1: heading('lg'),
    h2: heading('md'),
    h3: heading('sm'),
    h4: heading('sm'),
    h5: heading('sm'),
    h6: heading('sm'),
    p: ({ children }) => (
      <Text size="sm" my={6} style={{ whiteSpace: 'pre-wrap' }}>
        {children}
      </Text>
    ),
    ul: ({ children }) => (
      <List size="sm" my={6} withPadding>
        {children}
      </List>
    ),
    ol: ({ children }) => (
      <List type="ordered" size="sm" my={6} withPadding>
        {children}
      </List>
    ),
    li: ({ children }) => <List.Item>{children}</List.Item>,
    blockquote: ({ children }) => (
      <Blockquote p="xs" my="xs">
        {children}
      </Blockquote>
    ),
    pre: ({ children }) => (
      <pre
        className="mono scroll-x"
        tabIndex={0}
        style={{
          overflow: 'auto',
          maxHeight: 420,
          margin: '6px 0',
          padding: 8,
          whiteSpace: 'pre',
          background: 'var(--mantine-color-default-hover)',
        }}
      >
        {children}
      </pre>
    ),
    code: ({ children, node }) => (isInline(node) ? <Code>{children}</Code> : <code>{children}</code>),
    hr: () => <Divider my="sm" />,
    img: ({ alt }) => (
      <Text span size="sm" c="dimmed">
        [picture{alt === undefined || alt === '' ? '' : `: ${alt}`}]
      </Text>
    ),
    a: ({ href, children, node }) => (
      <Target href={href} isWritten={text[node?.position?.start.offset ?? 0] === '['}>
        {children}
      </Target>
    ),
  };
}

function isInline(node: ExtraProps['node']): boolean {
  return node?.position?.start.line === node?.position?.end.line;
}

interface TargetProps {
  href: string | undefined;
  /** Whether somebody wrote a link, instead of an address that was taken for one. */
  isWritten: boolean;
  children?: React.ReactNode;
}

/** A link says where it goes, whatever its text says. */
function Target({ href, isWritten, children }: TargetProps) {
  const host = isWritten ? hostOf(href) : undefined;
  if (host === undefined) return <span>{children}</span>;
  return (
    <>
      <Anchor href={href} target="_blank" rel="noreferrer noopener nofollow" inherit>
        <bdi>{children}</bdi>
      </Anchor>
      {wordsOf(children) !== host && (
        <Text span size="xs" c="dimmed">
          {' '}
          ({host})
        </Text>
      )}
    </>
  );
}

function hostOf(href: string | undefined): string | undefined {
  if (href === undefined || !HTTP.test(href)) return undefined;
  try {
    return new URL(href).host;
  } catch {
    return undefined;
  }
}

function wordsOf(children: React.ReactNode): string {
  return typeof children === 'string' ? children.replace(/^https?:\/\//i, '').replace(/\/.*$/, '') : '';
}
