import { errorOfField } from '../../api/use-change.ts'
import { Card } from '../../kit/card.tsx'
import { Field } from '../../kit/field.tsx'
import { words } from '../../words/en.ts'
import { Check, Lines, type FormProps } from './form-parts.tsx'
import { rolloutStages, stageOf, withStage } from './draft.ts'
import type { GatewayConfig } from './queries.ts'
import { RolloutArms } from './rollout-arms.tsx'
import styles from './config-form.module.css'

const text = words.gateway

/** Which requests the configuration applies to: recorded only, a share of users, or all. */
export function RolloutCard({ config, onChange, error }: FormProps) {
  const { rollout } = config
  const set = (changed: GatewayConfig['rollout']): void => onChange({ ...config, rollout: changed })
  const stage = stageOf(rollout)
  const { canary } = rollout
  return (
    <Card title={text.rollout}>
      <div className={styles.fields}>
        <Field label={text.stage} error={errorOfField(error, 'rollout')}>
          {(input) => (
            <select
              {...input}
              value={stage ?? ''}
              onChange={({ target }) => {
                const chosen = rolloutStages.find((each) => each === target.value)
                if (chosen) set(withStage(rollout, chosen))
              }}
            >
              {stage === undefined && <option value="">{text.stageCustom}</option>}
              {rolloutStages.map((each) => (
                <option key={each} value={each}>
                  {text.stages[each]}
                </option>
              ))}
            </select>
          )}
        </Field>
        {stage === 'share' && (
          <>
            <Field label={`${text.percent}: ${canary.sample_percent} %`}>
              {({ className: _class, ...input }) => (
                <input
                  {...input}
                  type="range"
                  min={1}
                  max={100}
                  value={canary.sample_percent}
                  onChange={({ target }) =>
                    set({ ...rollout, canary: { ...canary, sample_percent: Number(target.value) } })
                  }
                />
              )}
            </Field>
            <Lines
              label={text.targets}
              hint={text.targetsHint}
              lines={canary.targets}
              onChange={(targets) => set({ ...rollout, canary: { ...canary, targets } })}
            />
          </>
        )}
        <RolloutArms />
        <Check isOn={rollout.rollback_on_spike} onChange={(isOn) => set({ ...rollout, rollback_on_spike: isOn })}>
          {text.rollback}
        </Check>
      </div>
    </Card>
  )
}
