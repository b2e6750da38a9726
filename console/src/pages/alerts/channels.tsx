import { Link, useNavigate } from '@tanstack/react-router'
import { Badge } from '../../kit/badge.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import type { DataColumn } from '../../kit/data-table.tsx'
import { fullTime, time } from '../../kit/format.ts'
import { EmptyState } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { CreateChannelDialog, EditChannelDialog, TestDialog } from './channel-dialog.tsx'
import { DeleteDialog, PauseDialog } from './common-dialogs.tsx'
import { List } from './list.tsx'
import type { PartProps } from './page.tsx'
import { channelsPath, useChannels, useDeleteChannel, useUpdateChannel, type AlertChannel } from './queries.ts'
import { RowMenu } from './row-menu.tsx'
import type { DialogName } from './search.ts'
import styles from './page.module.css'

const text = words.alerts

/** Where alerts are sent. */
export function Channels({ search, mayChange }: PartProps) {
  const query = useChannels()
  const navigate = useNavigate({ from: '/alerts' })
  const close = (): void =>
    void navigate({ to: '/alerts', search: (before) => ({ ...before, dialog: undefined, id: undefined }) })
  const channel = query.rows.find(({ id }) => id === search.id)
  return (
    <>
      <List
        label={text.tabs.channels}
        query={query}
        columns={columnsOf(mayChange)}
        empty={
          <EmptyState title={text.noChannels}>
            <p>{text.noChannelsText}</p>
            <CodeBlock code={text.channelCommand} />
          </EmptyState>
        }
      />
      {mayChange && search.dialog === 'create' && <CreateChannelDialog onClose={close} />}
      {mayChange && channel && <ChannelDialog dialog={search.dialog} channel={channel} onClose={close} />}
    </>
  )
}

type DialogProps = {
  readonly dialog: DialogName | undefined
  readonly channel: AlertChannel
  readonly onClose: () => void
}

function ChannelDialog({ dialog, channel, onClose }: DialogProps) {
  const update = useUpdateChannel(channel.id, onClose)
  const remove = useDeleteChannel(channel.id, onClose)
  const object = { ...channel, path: `${channelsPath}/${channel.id}` }
  if (dialog === 'edit') return <EditChannelDialog channel={channel} onClose={onClose} />
  if (dialog === 'test') return <TestDialog channel={channel} onClose={onClose} />
  if (dialog === 'pause' || dialog === 'resume')
    return <PauseDialog action={dialog} object={object} text={text.pauseChannel} change={update} onClose={onClose} />
  if (dialog === 'delete')
    return <DeleteDialog object={object} text={text.deleteChannel} change={remove} onClose={onClose} />
  return null
}

const columnsOf = (mayChange: boolean): readonly DataColumn<AlertChannel>[] => [
  {
    id: 'name',
    name: text.name,
    cell: ({ id, name }) =>
      mayChange ? (
        <Link
          from="/alerts"
          to="/alerts"
          className={styles.name}
          title={id}
          search={(before) => ({ ...before, dialog: 'edit', id })}
        >
          {name}
        </Link>
      ) : (
        <span className={styles.name}>{name}</span>
      ),
  },
  { id: 'kind', name: text.kind, cell: ({ kind }) => text.channelKinds[kind] },
  {
    id: 'destination',
    name: text.destination,
    priority: 2,
    cell: ({ config }) => <span className={styles.cut}>{destinationOf(config)}</span>,
  },
  { id: 'state', name: text.state, cell: (channel) => <ChannelState channel={channel} /> },
  {
    id: 'last',
    name: text.lastSent,
    priority: 3,
    cell: ({ last_sent_at: at }) =>
      at === null ? (
        <span className={styles.faint}>{text.never}</span>
      ) : (
        <span title={fullTime(at * 1_000)}>{time(at * 1_000)}</span>
      ),
  },
  {
    id: 'actions',
    name: text.actions,
    cell: ({ id, name, paused }) =>
      mayChange && <RowMenu id={id} name={name} items={['test', 'edit', paused ? 'resume' : 'pause', 'delete']} />,
  },
]

const destinationOf = ({ url, to }: AlertChannel['config']): string =>
  Array.isArray(to) ? to.join(', ') : typeof url === 'string' ? url : ''

/** A channel fails while its last error is later than its last message. */
function ChannelState({ channel }: { readonly channel: AlertChannel }) {
  const { paused, last_error: error, last_error_at: errorAt, last_sent_at: sentAt, waiting } = channel
  if (paused) return <Badge tone="none">{text.states.paused}</Badge>
  if (error !== null && (errorAt ?? 0) > (sentAt ?? 0))
    return (
      <span className={styles.state}>
        <Badge tone="error" title={error}>
          {text.failing}
        </Badge>
        <span className={styles.since}>{waiting > 0 ? text.waiting(waiting) : error}</span>
      </span>
    )
  return <Badge tone="allow">{waiting > 0 ? text.waiting(waiting) : text.states.ok}</Badge>
}
