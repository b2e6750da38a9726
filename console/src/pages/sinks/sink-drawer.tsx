import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, dataOf } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useMay } from '../../session/session.tsx'
import { useObjectTitle } from '../../session/title.ts'
import { Badge } from '../../kit/badge.tsx'
import { Button, IconButton } from '../../kit/button.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Drawer, DrawerButtons, DrawerFacts, DrawerSection } from '../../kit/drawer.tsx'
import { count, fullTime } from '../../kit/format.ts'
import { ErrorNotice, ManagedNotice, Notice } from '../../kit/notice.tsx'
import { ShortId } from '../../kit/short-id.tsx'
import { EmptyState, LoadingRows } from '../../kit/state.tsx'
import { sinkTones } from '../../kit/sink-tones.ts'
import { words } from '../../words/en.ts'
import { DeadLetters } from './dead-letters.tsx'
import { DeleteSinkDialog } from './delete-dialog.tsx'
import { destinationOf, healthSentence, lagOf, nameOf } from './health.ts'
import { sinkKeys, useSinks, type Sink } from './queries.ts'
import { EditSinkDialog } from './sink-dialog.tsx'
import styles from './sink-drawer.module.css'

const text = words.sinks

/** One sink: how delivery goes, what can be done about it, its dead letters and its settings. */
export function SinkDrawer() {
  const { sinkId } = useParams({ from: '/sinks/$sinkId' })
  const sinks = useSinks()
  const sink = sinks.data?.find(({ id }) => id === sinkId)
  useObjectTitle(sink && nameOf(sink))
  const navigate = useNavigate()
  const close = (): void => void navigate({ to: '/sinks', search: {} })
  return (
    <Drawer
      label={text.sink}
      bar={
        <>
          {sink && <Badge tone={sinkTones[sink.health.state]}>{text.states[sink.health.state]}</Badge>}
          <ShortId id={sinkId} />
          <DrawerButtons>
            <IconButton isSmall icon="close" label={words.common.close} onClick={close} />
          </DrawerButtons>
        </>
      }
      title={sink && <h2>{nameOf(sink)}</h2>}
      lead={sink && <p>{healthSentence(sink)}</p>}
    >
      {sinks.isPending && <LoadingRows widths={[90, 220, 60]} />}
      {sinks.isSuccess && !sink && <EmptyState title={text.missing} />}
      {sink && <Detail key={sink.id} sink={sink} onGone={close} />}
    </Drawer>
  )
}

function Detail({ sink, onGone }: { readonly sink: Sink; readonly onGone: () => void }) {
  const { dialog } = useSearch({ from: '/sinks' })
  const navigate = useNavigate()
  const mayWrite = useMay('exports:write')
  const open = (name: typeof dialog): void =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, dialog: name }) })
  const { health } = sink
  const facts: readonly (readonly [string, ReactNode])[] = [
    [text.kind, text.kinds[sink.type] ?? sink.type],
    [text.destination, destinationOf(sink)],
    [text.lastSuccess, sink.last_success_at === null ? words.common.none : fullTime(Date.parse(sink.last_success_at))],
    ...progressOf(sink),
  ]
  return (
    <>
      <ManagedNotice owner={sink.managed_by} />
      <Actions sink={sink} mayWrite={mayWrite} onDialog={open} />
      {sink.last_error !== null && (
        <DrawerSection
          title={text.problem}
          note={sink.last_error_at !== null && fullTime(Date.parse(sink.last_error_at))}
        >
          <p className={styles.problem}>{sink.last_error}</p>
        </DrawerSection>
      )}
      <DrawerFacts className={styles.facts} facts={facts} />
      {health.cost_files === null && <DeadLetters sink={sink} mayWrite={mayWrite} />}
      <DrawerSection title={text.settings}>
        <CodeBlock code={JSON.stringify(sink.config, null, 2)} />
        <CommandPreview
          call={{
            method: 'GET',
            path: `/api/policy-gateway/exports/${sink.id}`,
            command: `gatehouse sinks show ${sink.id}`,
          }}
        />
      </DrawerSection>
      {dialog === 'edit' && mayWrite && <EditSinkDialog sink={sink} onClose={() => open(undefined)} />}
      {dialog === 'delete' && mayWrite && (
        <DeleteSinkDialog sink={sink} onClose={() => open(undefined)} onDeleted={onGone} />
      )}
    </>
  )
}

/** How far delivery is: events, or days of costs. */
function progressOf(sink: Sink): readonly (readonly [string, string])[] {
  const { cost_files: files, backlog_events: backlog, dead_letters: deadLetters } = sink.health
  if (files === null)
    return [
      [text.backlog, count(backlog)],
      [text.lag, lagOf(sink, Date.now())],
      [text.deadLetters, count(deadLetters)],
    ]
  return [
    [text.days, count(files.days)],
    [text.lastDay, files.last_day ?? words.common.none],
    [text.lastDayWithoutTags, files.last_day_without_tags ?? words.common.none],
  ]
}

type ActionsProps = {
  readonly sink: Sink
  readonly mayWrite: boolean
  readonly onDialog: (dialog: 'edit' | 'delete') => void
}

function Actions({ sink, mayWrite, onDialog }: ActionsProps) {
  const params = { path: { export_id: sink.id } }
  const test = useChange({
    send: () => dataOf(api.POST('/api/policy-gateway/exports/{export_id}/test', { params })),
    refresh: sinkKeys,
  })
  const toggle = useChange({
    send: (enabled: boolean) =>
      dataOf(api.PATCH('/api/policy-gateway/exports/{export_id}', { params, body: { enabled } })),
    refresh: sinkKeys,
  })
  const allowed = { disabled: !mayWrite, title: mayWrite ? undefined : text.mayNotWrite }
  const result = test.data?.test
  const isOfCosts = sink.health.cost_files !== null
  const [tested, failed] = isOfCosts ? [text.fileTested, text.fileTestFailed] : [text.tested, text.testFailed]
  return (
    <DrawerSection>
      <div className={styles.actions}>
        <Button {...allowed} disabled={!mayWrite || test.isPending} onClick={() => test.mutate(undefined)}>
          {isOfCosts ? text.testFile : text.test}
        </Button>
        <Button {...allowed} disabled={!mayWrite || toggle.isPending} onClick={() => toggle.mutate(!sink.enabled)}>
          {sink.enabled ? text.pause : text.resume}
        </Button>
        <Button {...allowed} onClick={() => onDialog('edit')}>
          {text.edit}
        </Button>
        <Button {...allowed} look="danger" onClick={() => onDialog('delete')}>
          {text.remove}
        </Button>
      </div>
      {!mayWrite && <p className={styles.quiet}>{text.mayNotWrite}</p>}
      {test.isError && <ErrorNotice error={test.error} />}
      {toggle.isError && <ErrorNotice error={toggle.error} />}
      {result && (
        <Notice tone={result.success ? 'allow' : 'error'}>
          {result.success ? tested : `${failed} ${result.message}`}
        </Notice>
      )}
    </DrawerSection>
  )
}
