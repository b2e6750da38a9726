import { useState } from 'react'
import { api, dataOf } from '../../api/client.ts'
import { isApiError } from '../../api/error.ts'
import { useChange } from '../../api/use-change.ts'
import { useMay } from '../../session/session.tsx'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { isGateError, overrideOf } from '../../kit/gate-override.tsx'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { changesOf, stageOf } from './draft.ts'
import { GateNotice } from './gate-notice.tsx'
import { gatewayKeys, type GatewayConfig, type SavedConfig } from './queries.ts'
import styles from './changes.module.css'

const text = words.gateway
const path = '/api/policy-gateway/config'

type Save = ReturnType<typeof useSave>
type Override = ReturnType<typeof overrideOf>

/** Saves the whole configuration, only if nobody else saved one since it was read. */
export const useSave = (seen: string | null, onDone: () => void) =>
  useChange({
    send: (body: GatewayConfig & Override) =>
      dataOf(api.PUT('/api/policy-gateway/config', { params: { header: ifMatch(seen) }, body })),
    refresh: gatewayKeys,
    onDone,
  })

const ifMatch = (seen: string | null) => ({ 'If-Match': `"${seen}"` })

type ChangesProps = {
  readonly saved: SavedConfig
  readonly config: GatewayConfig
  /** `updated_at` of the configuration that the changes are made to. */
  readonly seen: string | null
  readonly save: Save
  /** Whether a field of the form shows the error of the save. */
  readonly isToldAtField: boolean
  readonly onDiscard: () => void
  readonly onRebase: () => void
}

/** What differs from the configuration in force, whom it affects, and the button that saves it. */
export function Changes({ saved, config, seen, save, isToldAtField, onDiscard, onRebase }: ChangesProps) {
  const mayWrite = useMay('gateway:write')
  const changes = changesOf(saved.config, config)
  const [reason, setReason] = useState('')
  const isGated = isGateError(save.error)
  const isConflict = isApiError(save.error) && save.error.status === 409 && !isGated
  const override = isGated ? overrideOf(reason) : {}
  const canSave = mayWrite && !save.isPending && (changes.length > 0 || saved.rolled_back)
  return (
    <Card title={text.changes} note={changes.length > 0 ? String(changes.length) : ''}>
      <div className={styles.changes}>
        {changes.length === 0 && <p className={styles.quiet}>{text.changesNone}</p>}
        {changes.map(({ field, before, after }) => (
          <div key={field} className={styles.change}>
            <code>{field}</code>
            {before !== '' && <del aria-label={`${text.removed}: ${before}`}>{before}</del>}
            {after !== '' && <ins aria-label={`${text.added}: ${after}`}>{after}</ins>}
          </div>
        ))}
        {changes.length > 0 && (
          <p className={styles.quiet}>
            {affectedBy(config)} {text.undo}
          </p>
        )}
        {!mayWrite && <p className={styles.quiet}>{text.mayNotWrite}</p>}
        {save.isError && !isToldAtField && !isGated && <ErrorNotice error={save.error} />}
        {isGated && <GateNotice config={config} error={save.error} override={{ reason, onReason: setReason }} />}
        {isConflict && <Button onClick={onRebase}>{text.reload}</Button>}
        {save.isSuccess && changes.length === 0 && <Notice tone="allow">{text.saved}</Notice>}
        <div className={styles.actions}>
          <Button disabled={changes.length === 0} onClick={onDiscard}>
            {text.discard}
          </Button>
          <Button look="primary" disabled={!canSave} onClick={() => save.mutate({ ...config, ...override })}>
            {text.save}
          </Button>
        </div>
        <CommandPreview
          call={{
            method: 'PUT',
            path,
            body: { ...config, ...override },
            headers: ifMatch(seen),
            command: 'gatehouse apply -f gateway.yaml',
          }}
        />
      </div>
    </Card>
  )
}

function affectedBy({ rollout }: GatewayConfig): string {
  const stage = stageOf(rollout)
  if (stage === 'share') return text.affected.share(rollout.canary.sample_percent)
  return text.affected[stage ?? 'custom']
}
