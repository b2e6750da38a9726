import { useNavigate } from '@tanstack/react-router'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Badge } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import type { DataColumn } from '../../kit/data-table.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { fullTime, time } from '../../kit/format.ts'
import { Notice } from '../../kit/notice.tsx'
import { EmptyState } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { browserOf } from './browser.ts'
import { List } from './list.tsx'
import { signInsPath, useEndSignIn, useSignIns, type SignIn } from './queries.ts'
import type { MembersSearch } from './search.ts'
import styles from './page.module.css'

const text = words.members

type SignInsProps = { readonly search: MembersSearch; readonly mayChange: boolean }

/** The browsers that are signed in. */
export function SignIns({ search, mayChange }: SignInsProps) {
  const query = useSignIns()
  const navigate = useNavigate({ from: '/members' })
  const open = (id: string | undefined): void =>
    void navigate({
      to: '/members',
      search: (before) => ({ ...before, dialog: id === undefined ? undefined : 'end', id }),
    })
  const ending = search.dialog === 'end' ? query.rows.find(({ id }) => id === search.id) : undefined
  return (
    <>
      <List
        label={text.tabs.signIns}
        query={query}
        columns={columnsOf(mayChange, open)}
        failed={text.failed.signIns}
        empty={
          <EmptyState title={text.noSignIns}>
            <p>{text.noSignInsText}</p>
            <CodeBlock code="gatehouse sign-ins list" />
          </EmptyState>
        }
      />
      {mayChange && ending && <EndDialog signIn={ending} onClose={() => open(undefined)} />}
    </>
  )
}

const columnsOf = (mayChange: boolean, open: (id: string) => void): readonly DataColumn<SignIn>[] => [
  {
    id: 'who',
    name: text.who,
    cell: ({ actor, is_current: isCurrent }) => (
      <span className={styles.who}>
        <span className={styles.name} title={actor.id}>
          {actor.name}
        </span>
        {isCurrent ? (
          <Badge tone="allow">{text.thisBrowser}</Badge>
        ) : (
          <span className={styles.faint}>{text.types[actor.type]}</span>
        )}
      </span>
    ),
  },
  {
    id: 'browser',
    name: text.browser,
    priority: 2,
    cell: ({ user_agent: agent }) => (
      <span className={styles.cut} title={agent ?? undefined}>
        {browserOf(agent) ?? text.unknownBrowser}
      </span>
    ),
  },
  { id: 'address', name: text.address, priority: 2, cell: ({ address }) => <code>{address}</code> },
  {
    id: 'signed_in',
    name: text.signedIn,
    priority: 3,
    cell: ({ created_at: at }) => <span title={fullTime(at * 1_000)}>{time(at * 1_000)}</span>,
  },
  {
    id: 'last_seen',
    name: text.lastSeen,
    cell: ({ last_seen_at: at }) => <span title={fullTime(at * 1_000)}>{time(at * 1_000)}</span>,
  },
  {
    id: 'end',
    name: text.actions,
    cell: ({ id, actor }) => (
      <Button
        isSmall
        disabled={!mayChange}
        title={mayChange ? undefined : text.lacks}
        aria-label={text.endOf(actor.name)}
        onClick={() => open(id)}
      >
        {text.end}
      </Button>
    ),
  },
]

type EndProps = { readonly signIn: SignIn; readonly onClose: () => void }

function EndDialog({ signIn, onClose }: EndProps) {
  const change = useEndSignIn(signIn, onClose)
  const title = text.endOf(signIn.actor.name)
  return (
    <FormDialog
      title={title}
      action={title}
      look="danger"
      change={change}
      onClose={onClose}
      onSubmit={() => change.mutate()}
    >
      <p>{text.endText}</p>
      {signIn.is_current && <Notice tone="warning">{text.endOwn}</Notice>}
      <CommandPreview
        call={{ method: 'DELETE', path: `${signInsPath}/${signIn.id}`, command: `gatehouse sign-ins end ${signIn.id}` }}
      />
    </FormDialog>
  )
}
