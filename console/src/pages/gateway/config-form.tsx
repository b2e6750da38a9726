import { errorOfField } from '../../api/use-change.ts'
import { Card } from '../../kit/card.tsx'
import { Field } from '../../kit/field.tsx'
import { words } from '../../words/en.ts'
import { Check, Lines, type FormProps } from './form-parts.tsx'
import { InjectionCard, injectionFields } from './injection-card.tsx'
import type { GatewayConfig } from './queries.ts'
import { RolloutCard } from './rollout-card.tsx'
import styles from './config-form.module.css'

const text = words.gateway

/** Fields of the form that show the error of the server. */
const fields = [
  'rules.denylist',
  'rules.allowlist',
  'rules.response_pattern',
  'refusal_replacement.escalation_path',
  ...['user_quota', 'project_quota'].flatMap((name) =>
    ['requests', 'tokens'].map((unit) => `org_controls.${name}.${unit}`),
  ),
  ...injectionFields,
  'rollout',
]

/** Whether the form shows this error at its field. */
export const isAtField = (error: unknown): boolean => fields.some((field) => errorOfField(error, field) !== undefined)

const categories = ['harassment', 'hate', 'illicit', 'sexual'] as const
const patterns = ['refuse', 'rewrite', 'summary', 'escalate'] as const
const windows = ['minute', 'hour', 'day', 'week', 'month'] as const

/** The common fields. The JSON view has all of them. */
export function ConfigForm(props: FormProps) {
  return (
    <div className={styles.form}>
      <TermsCard {...props} />
      <MatchCard {...props} />
      <InjectionCard {...props} />
      <QuotaCard {...props} />
      <RolloutCard {...props} />
    </div>
  )
}

function TermsCard({ config, onChange, error }: FormProps) {
  const { rules } = config
  const set = (changed: Partial<GatewayConfig['rules']>): void =>
    onChange({ ...config, rules: { ...rules, ...changed } })
  return (
    <Card title={text.terms}>
      <div className={styles.fields}>
        <Lines
          label={text.denylist}
          hint={text.termsHint}
          error={errorOfField(error, 'rules.denylist')}
          lines={rules.denylist}
          onChange={(denylist) => set({ denylist })}
        />
        <Lines
          label={text.allowlist}
          hint={text.allowlistHint}
          error={errorOfField(error, 'rules.allowlist')}
          lines={rules.allowlist}
          onChange={(allowlist) => set({ allowlist })}
        />
      </div>
    </Card>
  )
}

function MatchCard({ config, onChange, error }: FormProps) {
  const { rules, refusal_replacement: replacement } = config
  const set = (changed: Partial<GatewayConfig['rules']>): void =>
    onChange({ ...config, rules: { ...rules, ...changed } })
  const flagged = rules.flagged_categories
  return (
    <Card title={text.moderation} note={text.categoriesHint}>
      <div className={styles.fields}>
        <fieldset className={styles.choices}>
          <legend>{text.categories}</legend>
          {categories.map((category) => (
            <Check
              key={category}
              isOn={flagged.includes(category)}
              onChange={(isOn) =>
                set({
                  flagged_categories: isOn ? [...flagged, category] : flagged.filter((each) => each !== category),
                })
              }
            >
              {category}
            </Check>
          ))}
        </fieldset>
        <Check isOn={rules.redact} onChange={(redact) => set({ redact })}>
          {text.redact}
        </Check>
        <Field label={text.pattern} error={errorOfField(error, 'rules.response_pattern')}>
          {(input) => (
            <select
              {...input}
              value={rules.response_pattern ?? ''}
              onChange={({ target }) =>
                set({ response_pattern: patterns.find((pattern) => pattern === target.value) ?? null })
              }
            >
              <option value="">{text.patterns['']}</option>
              {patterns.map((pattern) => (
                <option key={pattern} value={pattern}>
                  {text.patterns[pattern]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={text.escalationPath} error={errorOfField(error, 'refusal_replacement.escalation_path')}>
          {(input) => (
            <input
              {...input}
              value={replacement.escalation_path ?? ''}
              onChange={({ target }) =>
                onChange({
                  ...config,
                  refusal_replacement: {
                    ...replacement,
                    escalation_path: target.value === '' ? null : target.value,
                  },
                })
              }
            />
          )}
        </Field>
      </div>
    </Card>
  )
}

function QuotaCard({ config, onChange, error }: FormProps) {
  const { org_controls: controls } = config
  const set = (changed: Partial<GatewayConfig['org_controls']>): void =>
    onChange({ ...config, org_controls: { ...controls, ...changed } })
  return (
    <Card title={text.quotas} note={text.quotasHint}>
      <div className={styles.fields}>
        <Check isOn={controls.user_quotas} onChange={(isOn) => set({ user_quotas: isOn })}>
          {text.userQuotas}
        </Check>
        <QuotaFields
          title={text.user}
          path="org_controls.user_quota"
          error={error}
          quota={controls.user_quota}
          onChange={(quota) => set({ user_quota: quota })}
        />
        <QuotaFields
          title={text.project}
          path="org_controls.project_quota"
          error={error}
          quota={controls.project_quota}
          onChange={(quota) => set({ project_quota: quota })}
        />
      </div>
    </Card>
  )
}

type Quota = GatewayConfig['org_controls']['user_quota']
type QuotaProps = {
  readonly title: string
  readonly path: string
  readonly error: unknown
  readonly quota: Quota
  readonly onChange: (quota: Quota) => void
}

const QuotaFields = ({ title, path, error, quota, onChange }: QuotaProps) => (
  <fieldset className={styles.quota}>
    <legend>{title}</legend>
    {(['requests', 'tokens'] as const).map((unit) => (
      <Field key={unit} label={text[unit]} error={errorOfField(error, `${path}.${unit}`)}>
        {(input) => (
          <input
            {...input}
            type="number"
            min={0}
            value={quota[unit]}
            onChange={({ target }) => onChange({ ...quota, [unit]: Number(target.value) })}
          />
        )}
      </Field>
    ))}
    <Field label={text.window}>
      {(input) => (
        <select
          {...input}
          value={quota.window}
          onChange={({ target }) =>
            onChange({ ...quota, window: windows.find((window) => window === target.value) ?? quota.window })
          }
        >
          {windows.map((window) => (
            <option key={window} value={window}>
              {text.windows[window]}
            </option>
          ))}
        </select>
      )}
    </Field>
  </fieldset>
)
