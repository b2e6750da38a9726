import { api, dataOf } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { DrawerSection } from '../../kit/drawer.tsx'
import { time } from '../../kit/format.ts'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { ShortId } from '../../kit/short-id.tsx'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { sinkKeys, useDeadLetters, type DeadLetter, type Sink } from './queries.ts'
import styles from './sink-drawer.module.css'

const text = words.sinks

const columns: readonly DataColumn<DeadLetter>[] = [
  { id: 'event', name: text.event, cell: ({ id }) => <ShortId id={id} /> },
  {
    id: 'reason',
    name: text.reason,
    cell: ({ reason, replaying }) => <span title={reason}>{replaying ? text.replaying : reason}</span>,
  },
  { id: 'time', name: text.rejectedAt, priority: 2, cell: ({ created_at: at }) => time(Date.parse(at)) },
]

/** The events that the destination rejected permanently, and the button that sends them again. */
export function DeadLetters({ sink, mayWrite }: { readonly sink: Sink; readonly mayWrite: boolean }) {
  const letters = useDeadLetters(sink)
  const total = sink.health.dead_letters
  const replay = useChange({
    send: () => {
      const params = { path: { export_id: sink.id } }
      return dataOf(api.POST('/api/policy-gateway/exports/{export_id}/dead_letters/replay', { params, body: {} }))
    },
    refresh: sinkKeys,
  })
  return (
    <DrawerSection
      title={text.deadLetters}
      action={
        total > 0 && (
          <Button
            isSmall
            disabled={!mayWrite || replay.isPending}
            title={mayWrite ? undefined : text.mayNotWrite}
            onClick={() => replay.mutate(undefined)}
          >
            {text.replay(total)}
          </Button>
        )
      }
    >
      {replay.isError && <ErrorNotice error={replay.error} />}
      {replay.data && <Notice tone="allow">{text.replayed(replay.data.replayed)}</Notice>}
      {total === 0 && <p className={styles.quiet}>{text.noLetters}</p>}
      {total > 0 && letters.isPending && <LoadingRows widths={[120, 180]} rows={3} />}
      {letters.isError && (
        <FailureState title={text.failed} error={letters.error} onRetry={() => void letters.refetch()} />
      )}
      {total > 0 && letters.data && (
        <DataTable label={text.deadLetters} rows={letters.data} columns={columns} idOf={({ id }) => id} />
      )}
    </DrawerSection>
  )
}
