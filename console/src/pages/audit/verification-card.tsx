import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { count, fullTime } from '../../kit/format.ts'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { useStartVerification, useVerifications, type Verification } from './queries.ts'
import styles from './page.module.css'

const text = words.audit.verification

/** Verifies the log on the server, with its progress, and what the last verifications found. */
export function VerificationCard() {
  const verifications = useVerifications()
  const start = useStartVerification()
  const all = verifications.data?.data ?? []
  const isRunning = all.some(({ state }) => state === 'running')
  return (
    <Card title={words.audit.verify}>
      <div className={styles.blocks}>
        <p>{text.explanation}</p>
        <div className={styles.buttons}>
          <Button look="primary" disabled={isRunning || start.isPending} onClick={() => start.mutate(undefined)}>
            {isRunning ? text.running : text.start}
          </Button>
        </div>
        {start.isError && <ErrorNotice error={start.error} />}
        {verifications.isError && <ErrorNotice error={verifications.error} />}
        {verifications.isPending && <LoadingRows widths={[220]} rows={1} />}
        {verifications.isSuccess && all.length === 0 && <p className={styles.quiet}>{text.never}</p>}
        {all.map((verification) => (
          <Outcome key={verification.id} verification={verification} />
        ))}
        <CommandPreview
          call={{
            method: 'POST',
            path: '/v1/organization/audit_logs/verify',
            body: {},
            command: 'gatehouse audit verify',
          }}
        />
      </div>
    </Card>
  )
}

function Outcome({ verification }: { readonly verification: Verification }) {
  const { state, checked, total, is_whole: isWhole, created_at: at } = verification
  if (state === 'running')
    return (
      <p className={styles.progress} role="status">
        <progress aria-label={text.running} value={checked} max={total} />
        {text.progress(count(checked), count(total))}
      </p>
    )
  const when = fullTime(at * 1_000)
  if (state === 'failed') return <Notice tone="error">{text.failed(when)}</Notice>
  return isWhole ? (
    <Notice tone="allow">{text.whole(when, count(checked), signedText(verification))}</Notice>
  ) : (
    <Notice tone="deny">{text.damaged(when, badText(verification))}</Notice>
  )
}

const signedText = ({ signed_to: to }: Verification): string =>
  to === null ? text.nothingSigned : text.signedTo(count(to))

function badText({ first_bad: bad, overdue_from: overdue }: Verification): string {
  if (bad) return text.bad[bad.part](count(bad.sequence), text.reasons[bad.reason])
  return overdue === null ? text.nothingChecked : text.overdue(count(overdue))
}
