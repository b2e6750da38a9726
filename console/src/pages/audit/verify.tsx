import { Card } from '../../kit/card.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { fullTime } from '../../kit/format.ts'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { useCheckpointKeys } from './queries.ts'
import { VerificationCard } from './verification-card.tsx'
import styles from './page.module.css'

const text = words.audit

/** How anybody can verify the log, and the public keys that are needed for it. */
export function VerifyView() {
  const keys = useCheckpointKeys()
  return (
    <>
      <VerificationCard />
      <Card title={text.verifyElsewhere}>
        <div className={styles.blocks}>
          <p>{text.verifyText}</p>
          <CodeBlock code="gatehouse audit verify" />
          <p>{text.verifyExport}</p>
          <CodeBlock
            code={
              'gatehouse audit export > events.ndjson\ngatehouse audit keys > keys.pem\ngatehouse audit verify --file events.ndjson --keys keys.pem'
            }
          />
        </div>
      </Card>
      <Card title={text.keys}>
        <div className={styles.blocks}>
          <p>{text.keysText}</p>
          {keys.isPending && <LoadingRows widths={[160, 240]} rows={2} />}
          {keys.isError && (
            <FailureState title={text.keysFailed} error={keys.error} onRetry={() => void keys.refetch()} />
          )}
          {keys.data?.data.map(({ id, public_key: pem, created_at: at }) => (
            <div key={id} className={styles.key}>
              <p>
                <code>{id}</code>{' '}
                <span className={styles.quiet}>
                  {at === null ? text.neverUsed : text.firstUsed(fullTime(at * 1_000))}
                </span>
              </p>
              <CodeBlock code={pem.trim()} />
            </div>
          ))}
        </div>
      </Card>
    </>
  )
}
