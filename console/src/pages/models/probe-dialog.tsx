import { api, dataOf } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { quoted } from '../../kit/command.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { milliseconds } from '../../kit/format.ts'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { upstreamsKey, type Upstream } from './queries.ts'

const text = words.models

/** Calls an upstream for one token, and shows how it went. */
export function ProbeDialog({
  upstream: { name },
  onClose,
}: {
  readonly upstream: Upstream
  readonly onClose: () => void
}) {
  const probe = useChange({
    send: () =>
      dataOf(api.POST('/v1/organization/upstreams/{upstream}/probe', { params: { path: { upstream: name } } })),
    refresh: [upstreamsKey, ['overview']],
  })
  return (
    <Dialog
      title={text.probeOf(name)}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.common.close}</Button>
          <Button look="primary" disabled={probe.isPending} onClick={() => probe.mutate(undefined)}>
            {text.send}
          </Button>
        </>
      }
    >
      <p>{text.probeText(name)}</p>
      <p>{text.probeEffect}</p>
      {probe.isPending && <Notice tone="none">{text.sending}</Notice>}
      {probe.isError && <ErrorNotice error={probe.error} />}
      {probe.data && <Result probe={probe.data} />}
      <CommandPreview
        call={{
          method: 'POST',
          path: `/v1/organization/upstreams/${encodeURIComponent(name)}/probe`,
          command: `gatehouse upstreams probe ${quoted(name)}`,
        }}
      />
    </Dialog>
  )
}

type Probe = {
  readonly upstream: string
  readonly model: string | null
  readonly ms: number
  readonly error: { readonly code: string; readonly message: string } | null
}

function Result({ probe: { upstream, model, ms, error } }: { readonly probe: Probe }) {
  if (error === null)
    return <Notice tone="allow">{text.answered(upstream, model ?? words.common.none, milliseconds(ms))}</Notice>
  return (
    <Notice tone="error">
      {text.notAnswered(upstream, milliseconds(ms))} {error.message} <code>{error.code}</code>
    </Notice>
  )
}
