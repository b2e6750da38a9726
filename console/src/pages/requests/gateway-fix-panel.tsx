import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../kit/button.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { count } from '../../kit/format.ts'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { LoadingRows } from '../../kit/state.tsx'
import { useMay, useMe } from '../../session/session.tsx'
import { words } from '../../words/en.ts'
import {
  useGatewayConfig,
  useGatewayReplay,
  useSaveGateway,
  type GatewayBacktest,
  type SavedConfig,
} from './gateway-fix-queries.ts'
import { matchedEntries, withoutEntries, type MatchedEntry } from './gateway-fix.ts'
import type { RequestDetail } from './queries.ts'
import styles from './fix-panel.module.css'

const text = words.request.fix

type Outcome = RequestDetail['outcomes'][number]

/** Takes out of the gateway configuration what denied a request, with what that would have done in the last seven days. */
export function GatewayFixPanel({ outcome }: { readonly outcome: Outcome }) {
  const [isOpen, setOpen] = useState(false)
  const mayWrite = useMay('gateway:write')
  const saved = useGatewayConfig(isOpen)
  if (!mayWrite) return null
  if (!isOpen)
    return (
      <p>
        <Button isSmall onClick={() => setOpen(true)}>
          {text.open}
        </Button>
      </p>
    )
  if (saved.isError) return <ErrorNotice error={saved.error} />
  return (
    <section className={styles.panel} aria-label={text.open}>
      {saved.data === undefined ? (
        <LoadingRows widths={[160, 80]} rows={2} />
      ) : (
        <GatewayFix saved={saved.data} outcome={outcome} />
      )}
    </section>
  )
}

type FixProps = { readonly saved: SavedConfig; readonly outcome: Outcome }

function GatewayFix({ saved, outcome }: FixProps) {
  const entries = matchedEntries(saved.config, outcome)
  const [kept, setKept] = useState<readonly string[]>([])
  const navigate = useNavigate()
  const { features } = useMe()
  const mayReadTexts = useMay('content:read')
  const replay = useGatewayReplay()
  const save = useSaveGateway(saved.updated_at, () => void navigate({ to: '/gateway', search: { view: 'versions' } }))
  const removed = entries.filter(({ name }) => !kept.includes(name))
  const config = withoutEntries(saved.config, removed)
  if (entries.length === 0)
    return (
      <p className={styles.note}>
        {text.nothingToRemove} <Link to="/gateway">{text.gateway}</Link>
      </p>
    )
  const isUnchanged = removed.length === 0
  const obstacle = !features.replay ? text.noTexts : !mayReadTexts ? text.mayNotRead : undefined
  const error = save.error ?? replay.error
  const isShown = JSON.stringify(replay.replayed) === JSON.stringify(config)
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        replay.start.mutate(config)
      }}
    >
      <fieldset className={styles.entries}>
        <legend>{text.remove}</legend>
        {entries.map((entry) => (
          <label key={`${entry.kind} ${entry.name}`}>
            <input
              type="checkbox"
              checked={!kept.includes(entry.name)}
              onChange={({ target }) =>
                setKept(target.checked ? kept.filter((name) => name !== entry.name) : [...kept, entry.name])
              }
            />
            {nameOf(entry)}
          </label>
        ))}
      </fieldset>
      {obstacle !== undefined && <p className={styles.note}>{obstacle}</p>}
      <p className={styles.buttons}>
        <Button
          look="primary"
          isSmall
          type="submit"
          disabled={obstacle !== undefined || isUnchanged || replay.start.isPending}
          title={obstacle ?? (isUnchanged ? text.chooseOne : undefined)}
        >
          {text.replay}
        </Button>
        <Button isSmall disabled={isUnchanged || save.isPending} onClick={() => save.mutate(config)}>
          {text.saveGateway}
        </Button>
      </p>
      <p>
        <Link to="/gateway">{text.gateway}</Link>
      </p>
      {error !== null && <ErrorNotice error={error} />}
      {isShown && <GatewayEffect backtest={replay.backtest} />}
      <CommandPreview
        call={{ method: 'POST', path: '/api/policy-gateway/config/backtest', body: { config, limit: 10_000 } }}
      />
    </form>
  )
}

const nameOf = ({ kind, name }: MatchedEntry): string =>
  kind === 'term' ? text.removedTerm(name) : text.removedCategory(name)

/** "Would let 4 denied requests through", with the requests. */
function GatewayEffect({ backtest }: { readonly backtest: GatewayBacktest | undefined }) {
  if (backtest === undefined || backtest.status === 'running') {
    const { done, total } = backtest?.progress ?? { done: 0, total: 1 }
    return <progress aria-label={text.running} value={done} max={Math.max(1, total)} />
  }
  const { result } = backtest
  if (result === null) return <Notice tone="error">{backtest.error ?? words.common.failed}</Notice>
  const others = result.newly_blocked + result.newly_modified + result.no_longer_modified
  const passing = result.example_requests.flatMap(({ request_id: id, change }) =>
    id !== null && change === 'newly_allowed' ? [id] : [],
  )
  return (
    <div role="status">
      <p>
        <b>{text.letsPass(count(result.newly_allowed))}</b> {others > 0 && text.changesOthers(count(others))}{' '}
        {text.replayed(count(result.coverage.with_text))}
      </p>
      {passing.length > 0 && (
        <ul className={styles.examples}>
          {passing.map((requestId) => (
            <li key={requestId}>
              <Link to="/requests/$requestId" params={{ requestId }} search={true}>
                <code>{`${requestId.slice(0, 9)}…${requestId.slice(-6)}`}</code>
              </Link>{' '}
              {text.wouldPass}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
