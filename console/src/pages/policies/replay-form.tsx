import { useState } from 'react'
import { useMay, useMe } from '../../session/session.tsx'
import { errorOfField } from '../../api/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Field } from '../../kit/field.tsx'
import { count } from '../../kit/format.ts'
import { ErrorNotice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { useStartBacktest, type Backtest, type BacktestCreate, type Policy } from './queries.ts'
import { usePolicyDraft } from './use-draft.ts'
import styles from './replay-tab.module.css'

const text = words.policy.replay

const ranges = { '24h': 86_400, '7d': 604_800, '30d': 2_592_000 } as const
type Range = keyof typeof ranges
const limits = [1_000, 10_000, 100_000]
const fields = ['from', 'limit', 'sample_percent']

type FormProps = { readonly policy: Policy; readonly onStarted: (backtest: Backtest) => void }

/** Which requests are replayed. Always the saved draft: what is not saved has no revision to compare with. */
export function ReplayForm({ policy, onStarted }: FormProps) {
  const [range, setRange] = useState<Range>('7d')
  const [limit, setLimit] = useState(limits[0] ?? 0)
  const [sample, setSample] = useState('100')
  const { isChanged } = usePolicyDraft()
  const mayWrite = useMay('policies:write')
  const mayReadTexts = useMay('content:read')
  const start = useStartBacktest(policy.id, onStarted)
  const chosen = { limit, sample_percent: Number(sample) }
  const obstacle = !mayWrite
    ? words.policies.mayNotWrite
    : !mayReadTexts
      ? text.mayNotRead
      : isChanged
        ? text.saveFirst
        : undefined
  const { error } = start
  const isAtField = fields.some((field) => errorOfField(error, field) !== undefined)
  return (
    <Card title={text.title} note={text.draftOf(policy.revision)}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          start.mutate(bodyOf(range, chosen))
        }}
      >
        <fieldset className={styles.fields} disabled={!mayWrite || !mayReadTexts}>
          <Field label={text.range} hint={text.rangeHint} error={errorOfField(error, 'from')}>
            {(props) => (
              <select {...props} value={range} onChange={(event) => setRange(event.target.value as Range)}>
                {Object.keys(ranges).map((name) => (
                  <option key={name} value={name}>
                    {words.range[name as Range]}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label={text.limit} hint={text.limitHint} error={errorOfField(error, 'limit')}>
            {(props) => (
              <select {...props} value={limit} onChange={(event) => setLimit(Number(event.target.value))}>
                {limits.map((each) => (
                  <option key={each} value={each}>
                    {count(each)}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label={text.sample} hint={text.sampleHint} error={errorOfField(error, 'sample_percent')}>
            {(props) => (
              <input
                {...props}
                type="number"
                min={0.1}
                max={100}
                step="any"
                required
                value={sample}
                onChange={(event) => setSample(event.target.value)}
              />
            )}
          </Field>
          <Button look="primary" type="submit" disabled={obstacle !== undefined || start.isPending} title={obstacle}>
            {text.start}
          </Button>
        </fieldset>
        <JudgeNote rule={policy.draft.rule} />
        {start.isError && !isAtField && <ErrorNotice error={error} />}
        <CommandPreview
          call={{
            method: 'POST',
            path: `/v1/organization/policies/${policy.id}/backtest`,
            body: bodyOf(range, chosen),
            command: `gatehouse policies backtest ${policy.id} --from ${range} --limit ${limit} --sample ${chosen.sample_percent}`,
          }}
        />
      </form>
    </Card>
  )
}

function JudgeNote({ rule }: { readonly rule: string }) {
  const { features } = useMe()
  return features.judge && !rule.trimStart().startsWith('cel:') ? <p className={styles.note}>{text.judge}</p> : null
}

/** The start of the range in whole minutes, so that the shown request does not change each second. */
const bodyOf = (range: Range, chosen: Pick<BacktestCreate, 'limit' | 'sample_percent'>): BacktestCreate => ({
  from: Math.floor(Date.now() / 60_000) * 60 - ranges[range],
  ...chosen,
})
